/*
 * The table for a person: one line a row, in the order of names; a metric with very many rows gets
 * one line for all of them, and one of pairs of cores a grid.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "build_info.h"
#include "el1bench/cpu.h"
#include "el1bench/engine.h"
#include "el1bench/gic.h"
#include "el1bench/platform.h"
#include "el1bench/smp.h"
#include "el1bench/wire.h"
#include "number.h"
#include "report_state.h"

#define ROWS_SHOWN 32  /* of one metric; with more, one line sums them up */
#define PAIRS_SHOWN 4  /* of one metric line by line; more pairs of cores make a grid */
#define METRICS_MAX 16 /* of one benchmark */
#define NOTE_BYTES 128
#define NANOSECONDS 1000000000U

#define HEAD_FORMAT "%-28s %8s %8s %9s %9s %9s %9s %9s %10s%s"

/* Ticks as nanoseconds with one decimal, per one of `operations`; a dash without a frequency. */
static struct number nanoseconds(bool there, int64_t ticks, uint32_t operations)
{
	uint64_t hz = cpus[0].counter_hz;
	uint64_t size = ticks < 0 ? -(uint64_t)ticks : (uint64_t)ticks;
	struct number number = {"-"};
	uint64_t tenths;

	if (there && hz > 0) {
		/* Remainders below hz, which has 32 bits: no product overflows. */
		tenths = size / hz * NANOSECONDS * 10;
		tenths += size % hz * NANOSECONDS / hz * 10;
		tenths += size % hz * NANOSECONDS % hz * 10 / hz;
		tenths /= operations;
		(void)snprintf(number.text, sizeof(number.text), "%s%" PRIu64 ".%" PRIu64,
			       ticks < 0 ? "-" : "", tenths / 10, tenths % 10);
	}
	return number;
}

static const char *gic_name(void)
{
	if (gic == NULL) {
		return "no GIC";
	}
	return gic->version == 3 ? "GICv3" : "GICv2";
}

static void print_head(const struct arguments *arguments)
{
	uint32_t step = engine_counter_step();
	uint64_t hz = cpus[0].counter_hz;

	text_line("%s", "");
	text_line("el1bench %s (%s) on %s: %" PRIu32 " of %" PRIu32 " cores, %s", EL1BENCH_VERSION,
		  EL1BENCH_BOARD, platform.model, smp_online_count(), platform.cpu_count,
		  gic_name());
	if (hz == 0) {
		text_line("The counter's frequency is not set: no nanoseconds.");
	} else {
		text_line("The counter runs at %" PRIu64 ".%06" PRIu64 " MHz in steps of %" PRIu32
			  " tick%s, %s ns: no time here is finer than that.",
			  hz / 1000000, hz % 1000000, step, step == 1 ? "" : "s",
			  nanoseconds(true, step, 1).text);
	}
	if (arguments->emulated[0] != '\0') {
		text_line("Emulated (%s): only ratios of metrics within one run mean something.",
			  arguments->emulated);
	}
	text_line("%s", "");
	text_line(HEAD_FORMAT, "metric (in ticks)", "cpu>peer", "n", "min", "p50", "p90", "p99",
		  "max", "p50 in ns", "  note");
}

/* Adds to the note, after a comma if something is there already; cut where it is full. */
static void add_note(char *note, const char *text)
{
	size_t length = strlen(note);

	(void)snprintf(note + length, NOTE_BYTES - length, "%s%s", length == 0 ? "  " : ", ", text);
}

static void write_note(const struct sample_row *row, char *note)
{
	uint32_t counts[SAMPLE_EXCLUSIONS];
	char text[NOTE_BYTES];

	note[0] = '\0';
	if (row->minuend != NULL) {
		(void)snprintf(text, sizeof(text), "%s.%s minus %s.%s, sample by sample",
			       row->minuend->benchmark, row->minuend->metric,
			       row->subtrahend->benchmark, row->subtrahend->metric);
		add_note(note, text);
	}
	if (row->operations > 1) {
		(void)snprintf(text, sizeof(text), "%" PRIu32 " operations a sample",
			       row->operations);
		add_note(note, text);
	}
	if (row->factors != NULL) {
		add_note(note, row->factors);
	}
	report_exclusions(row, counts);
	for (uint32_t reason = 1; reason < SAMPLE_EXCLUSIONS; reason++) {
		if (counts[reason] > 0) {
			(void)snprintf(text, sizeof(text), "%" PRIu32 " excluded: %s",
				       counts[reason],
				       sample_exclusion_name((enum sample_exclusion)reason));
			add_note(note, text);
		}
	}
}

static void print_row(const struct sample_row *row, const struct statistics *statistics)
{
	bool any = statistics->n > 0;
	char name[64];
	char cores[2 * NUMBER_BYTES];
	char note[NOTE_BYTES];
	char count[NUMBER_BYTES];

	(void)snprintf(name, sizeof(name), "%s.%s", row->benchmark, row->metric);
	(void)snprintf(cores, sizeof(cores), "%s>%s", number_cpu(row->cpu).text,
		       number_cpu(row->peer).text);
	(void)snprintf(count, sizeof(count), "%" PRIu32, statistics->n);
	write_note(row, note);
	text_line(HEAD_FORMAT, name, cores, count, number_or_none(any, statistics->min).text,
		  number_or_none(any, statistics->p50).text,
		  number_or_none(any, statistics->p90).text,
		  number_or_none(statistics->has_p99, statistics->p99).text,
		  number_or_none(any, statistics->max).text,
		  nanoseconds(any, statistics->p50, row->operations).text, note);
}

/* All rows of one metric of one benchmark. */
struct metric {
	const char *name;
	const struct sample_row *first;
	bool senders_differ;
	bool outside_grid; /* a row without two cores, or with one that no grid has room for */
	uint32_t rows;
	uint64_t n;
	bool any; /* the figures below are of a good sample */
	int64_t min;
	int64_t max;
	int64_t p50_least;
	int64_t p50_most;
};

struct metric_list {
	struct metric metrics[METRICS_MAX];
	uint32_t count;
};

static struct metric *find_metric(struct metric_list *list, const char *name)
{
	for (uint32_t i = 0; i < list->count; i++) {
		if (strcmp(list->metrics[i].name, name) == 0) {
			return &list->metrics[i];
		}
	}
	if (list->count == METRICS_MAX) {
		return NULL;
	}
	list->metrics[list->count] = (struct metric){.name = name};
	return &list->metrics[list->count++];
}

static bool fits_grid(int32_t cpu)
{
	return cpu >= 0 && cpu < REPORT_GRID_CORES;
}

static bool is_grid(const struct metric *metric)
{
	return metric->rows > PAIRS_SHOWN && metric->senders_differ && !metric->outside_grid;
}

static void add_row(struct metric *metric, const struct sample_row *row,
		    const struct statistics *statistics)
{
	if (metric->first == NULL) {
		metric->first = row;
	}
	metric->senders_differ = metric->senders_differ || row->cpu != metric->first->cpu;
	metric->outside_grid =
		metric->outside_grid || !fits_grid(row->cpu) || !fits_grid(row->peer);
	metric->rows++;
	metric->n += statistics->n;
	if (statistics->n == 0) {
		return;
	}
	if (!metric->any) {
		metric->any = true;
		metric->min = statistics->min;
		metric->max = statistics->max;
		metric->p50_least = statistics->p50;
		metric->p50_most = statistics->p50;
	}
	metric->min = statistics->min < metric->min ? statistics->min : metric->min;
	metric->max = statistics->max > metric->max ? statistics->max : metric->max;
	if (statistics->p50 < metric->p50_least) {
		metric->p50_least = statistics->p50;
	}
	if (statistics->p50 > metric->p50_most) {
		metric->p50_most = statistics->p50;
	}
}

static void print_summary(const char *benchmark, const struct metric *metric)
{
	char name[64];
	char rows[NUMBER_BYTES];
	char count[NUMBER_BYTES];
	char note[NOTE_BYTES];

	(void)snprintf(name, sizeof(name), "%s.%s", benchmark, metric->name);
	(void)snprintf(rows, sizeof(rows), "%" PRIu32, metric->rows);
	(void)snprintf(count, sizeof(count), "%" PRIu64, metric->n);
	(void)snprintf(note, sizeof(note), "  all %" PRIu32 " rows; medians from %s to %s",
		       metric->rows, number_or_none(metric->any, metric->p50_least).text,
		       number_or_none(metric->any, metric->p50_most).text);
	text_line(HEAD_FORMAT, name, "*", count, number_or_none(metric->any, metric->min).text, "",
		  "", "", number_or_none(metric->any, metric->max).text, "", note);
}

static bool is_shown(const struct sample_row *row, const char *benchmark)
{
	return row->benchmark == benchmark && sample_count(row) > 0 &&
	       !sample_row_is_of_places(row);
}

static void print_benchmark(const char *benchmark, const struct statistics *statistics)
{
	static struct metric_list list;

	list.count = 0;
	for (uint32_t i = 0; i < samples_row_count(); i++) {
		if (is_shown(samples_row(i), benchmark)) {
			struct metric *metric = find_metric(&list, samples_row(i)->metric);

			if (metric != NULL) {
				add_row(metric, samples_row(i), &statistics[i]);
			}
		}
	}
	for (uint32_t i = 0; i < samples_row_count(); i++) {
		const struct sample_row *row = samples_row(i);
		const struct metric *metric;

		if (!is_shown(row, benchmark)) {
			continue;
		}
		metric = find_metric(&list, row->metric);
		if (metric == NULL || (metric->rows <= ROWS_SHOWN && !is_grid(metric))) {
			print_row(row, &statistics[i]);
		}
	}
	for (uint32_t i = 0; i < list.count; i++) {
		if (list.metrics[i].rows > ROWS_SHOWN || is_grid(&list.metrics[i])) {
			print_summary(benchmark, &list.metrics[i]);
		}
	}
	for (uint32_t i = 0; i < list.count; i++) {
		if (is_grid(&list.metrics[i])) {
			report_grids(benchmark, list.metrics[i].name, statistics);
		}
	}
}

/* The selected benchmark whose name follows `after` (NULL: the first one), or NULL. */
static const struct benchmark_run *next_by_name(const char *after)
{
	const struct benchmark_run *next = NULL;

	for (uint32_t i = 0; i < engine_run_count(); i++) {
		const struct benchmark_run *run = engine_run_at(i);
		const char *name = run->benchmark->name;

		if (run->state != BENCHMARK_NOT_SELECTED &&
		    (after == NULL || strcmp(name, after) > 0) &&
		    (next == NULL || strcmp(name, next->benchmark->name) < 0)) {
			next = run;
		}
	}
	return next;
}

static void print_outcome(const struct benchmark_run *run)
{
	static const char *const words[] = {
		[BENCHMARK_PASSED] = "passed",
		[BENCHMARK_SKIPPED] = "skipped",
		[BENCHMARK_FAILED] = "FAILED",
	};
	const char *reason = report_reason(run);
	const char *text = reason[0] == '\0' ? run->benchmark->summary : reason;

	text_line("%-28s %s%s%s", run->benchmark->name, words[report_outcome(run)],
		  text == NULL ? "" : ": ", text == NULL ? "" : text);
}

/* What has no line in the table: checks, whatever did not pass, and notes. */
static void print_outcomes(void)
{
	const struct benchmark_run *run = NULL;
	const struct benchmark_note *note;

	text_line("%s", "");
	while ((run = next_by_name(run == NULL ? NULL : run->benchmark->name)) != NULL) {
		if (run->benchmark->row_count == NULL || report_outcome(run) != BENCHMARK_PASSED) {
			print_outcome(run);
		}
	}
	for (uint32_t i = 0; (note = engine_note(i)) != NULL; i++) {
		text_line("%-28s %s", note->benchmark->name, report_note(note));
	}
	if (report_counts.failures > 0) {
		text_line("%" PRIu32 " failure%s outside of any benchmark: see the lines `fail`.",
			  report_counts.failures, report_counts.failures == 1 ? "" : "s");
	}
	text_line("%s", "");
}

void report_table(const struct arguments *arguments, const struct statistics *statistics)
{
	const struct benchmark_run *run = NULL;

	print_head(arguments);
	while (statistics != NULL &&
	       (run = next_by_name(run == NULL ? NULL : run->benchmark->name)) != NULL) {
		print_benchmark(run->benchmark->name, statistics);
	}
	print_outcomes();
}

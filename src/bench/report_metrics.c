/*
 * Statistics of every row, and their machine lines.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "el1bench/arena.h"
#include "el1bench/wire.h"
#include "number.h"
#include "report_state.h"

#define FACTORS_BYTES 128

void report_exclusions(const struct sample_row *row, uint32_t counts[SAMPLE_EXCLUSIONS])
{
	memset(counts, 0, SAMPLE_EXCLUSIONS * sizeof(counts[0]));
	if (row->minuend == NULL) {
		memcpy(counts, row->excluded, SAMPLE_EXCLUSIONS * sizeof(counts[0]));
		return;
	}
	for (uint32_t i = 0; i < sample_count(row); i++) {
		int64_t value = row->minuend->values[i];

		if (!sample_is_excluded(value)) {
			value = row->subtrahend->values[i];
		}
		if (sample_is_excluded(value)) {
			counts[value - INT64_MIN]++;
		}
	}
}

static uint32_t most_samples(void)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < samples_row_count(); i++) {
		uint32_t count = sample_count(samples_row(i));

		most = count > most ? count : most;
	}
	return most;
}

/* Copies the good samples; returns how many there are. */
static uint32_t good_samples(const struct sample_row *row, int64_t *values)
{
	uint32_t count = sample_count(row);
	uint32_t good = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (sample_value(row, i, &values[good])) {
			good++;
		}
	}
	return good;
}

const struct statistics *report_statistics(void)
{
	uint32_t rows = samples_row_count();
	struct statistics *statistics;
	int64_t *scratch;
	size_t mark;

	if (rows == 0) {
		return NULL;
	}
	statistics = arena_take(rows * sizeof(*statistics));
	mark = arena_mark();
	scratch = arena_take(most_samples() * sizeof(*scratch));
	if (statistics == NULL || scratch == NULL) {
		return NULL;
	}
	for (uint32_t i = 0; i < rows; i++) {
		uint32_t good = good_samples(samples_row(i), scratch);

		statistics_compute(scratch, good, &statistics[i]);
	}
	arena_release(mark);
	return statistics;
}

/* The median in ticks per operation with three decimals, rounded to nearest. */
static struct number headline(const struct sample_row *row, const struct statistics *statistics)
{
	uint64_t p50 = statistics->p50 < 0 ? -(uint64_t)statistics->p50 : (uint64_t)statistics->p50;
	uint64_t rest = p50 % row->operations;
	uint64_t thousandths = p50 / row->operations * 1000 +
			       (rest * 1000 + row->operations / 2) / row->operations;
	struct number number = {"-"};

	if (statistics->n > 0) {
		(void)snprintf(number.text, sizeof(number.text), "%s%" PRIu64 ".%03" PRIu64,
			       statistics->p50 < 0 ? "-" : "", thousandths / 1000,
			       thousandths % 1000);
	}
	return number;
}

static struct number mean(const struct statistics *statistics)
{
	struct number number = {"-"};

	if (statistics->n > 0) {
		(void)snprintf(number.text, sizeof(number.text), "%" PRId64 "/1024",
			       statistics->mean_1024);
	}
	return number;
}

/* `key=value,key=value` as `key:value,key:value`. */
static void factors_text(const struct sample_row *row, char text[FACTORS_BYTES])
{
	(void)snprintf(text, FACTORS_BYTES, "%s", row->factors == NULL ? "-" : row->factors);
	for (char *equals = text; (equals = strchr(equals, '=')) != NULL;) {
		*equals = ':';
	}
}

static void exclusions_text(const struct sample_row *row, char *text, size_t capacity)
{
	uint32_t counts[SAMPLE_EXCLUSIONS];
	size_t length = 0;

	(void)snprintf(text, capacity, "-");
	report_exclusions(row, counts);
	for (uint32_t reason = 1; reason < SAMPLE_EXCLUSIONS; reason++) {
		if (counts[reason] > 0) {
			length += (size_t)snprintf(
				text + length, capacity - length, "%s%s:%" PRIu32,
				length == 0 ? "" : ",",
				sample_exclusion_name((enum sample_exclusion)reason),
				counts[reason]);
		}
	}
}

static uint32_t row_index(const struct sample_row *row)
{
	return (uint32_t)(row - samples_row(0));
}

static void report_row(const struct sample_row *row, const struct statistics *statistics)
{
	bool any = statistics->n > 0;
	char excluded[128];
	char factors[FACTORS_BYTES];
	char operands[48] = "";

	factors_text(row, factors);
	exclusions_text(row, excluded, sizeof(excluded));
	if (row->minuend != NULL) {
		(void)snprintf(operands, sizeof(operands),
			       " minuend=%" PRIu32 " subtrahend=%" PRIu32, row_index(row->minuend),
			       row_index(row->subtrahend));
	}
	wire_line(row->minuend == NULL ? "metric" : "derived",
		  "%" PRIu32 " %s.%s %s %s %s cpu=%s peer=%s n=%" PRIu32 " warmup=%" PRIu32
		  " min=%s mean=%s p50=%s p90=%s p99=%s p999=%s max=%s cold=%s ops=%" PRIu32
		  " factors=%s excluded=%s samples=%" PRIu32 "%s",
		  row_index(row), row->benchmark, row->metric, any ? "pass" : "fail",
		  headline(row, statistics).text, row->unit, number_cpu(row->cpu).text,
		  number_cpu(row->peer).text, statistics->n, row->warmup_count,
		  number_or_none(any, statistics->min).text, mean(statistics).text,
		  number_or_none(any, statistics->p50).text,
		  number_or_none(any, statistics->p90).text,
		  number_or_none(statistics->has_p99, statistics->p99).text,
		  number_or_none(statistics->has_p999, statistics->p999).text,
		  number_or_none(any, statistics->max).text,
		  number_or_none(row->has_cold, row->cold).text, row->operations, factors, excluded,
		  sample_count(row), operands);
	report_counts.metric_lines++;
}

void report_metrics(const struct statistics *statistics)
{
	for (uint32_t i = 0; i < samples_row_count(); i++) {
		if (sample_count(samples_row(i)) > 0) {
			report_row(samples_row(i), &statistics[i]);
		}
	}
}

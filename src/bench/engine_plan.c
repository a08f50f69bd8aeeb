/*
 * Planning: which benchmarks, in which order, with how many samples, and whether memory holds them.
 */
#include <stdio.h>
#include <string.h>

#include "el1bench/arena.h"
#include "el1bench/smp.h"
#include "el1bench/survivors.h"
#include "el1bench/watchdog.h"
#include "engine_state.h"
#include "memory_need.h"
#include "pace.h"

#define HAZARD_MAX 7
#define STACK_OFFSETS 256 /* multiples of 16 below 4096 */
#define STACK_ALIGN 16
#define BUFFER_OFFSETS 64 /* multiples of 64 below 4096 */
#define BUFFER_ALIGN 64
#define TOTAL_METRIC "total"
#define NET_METRIC "net"

#define AUTO_CAP_MIN 256 /* below, samples=auto does not fit */

/* Generous shares of the time bound; emulation on a loaded host has to fit. */
#define BOUND_BASE_MS 1000
#define BOUND_CHECK_MS 5000
#define BOUND_CHECK_PAIR_MS 2 /* for each pair of cores */
#define BOUND_SAMPLE_US 500
#define BOUND_SAMPLE_CORE_US 50
#define BOUND_OPERATIONS 32 /* of a batch, in the time of a sample */

/* What a watchdog waits for a unit: a bound that is off must not reset a machine that is well. */
#define WATCHDOG_FACTOR 2
#define WATCHDOG_MARGIN_MS 10000

/* Operations of a batched benchmark's row, for each sample asked for; but never too few samples. */
#define BATCHED_OPERATIONS 8
#define BATCHED_SAMPLES_MIN 32

extern const struct benchmark *const benchmarks_start[];
extern const struct benchmark *const benchmarks_end[];

static char refusal[320];

static size_t registered_count(void)
{
	return (size_t)(benchmarks_end - benchmarks_start);
}

/* True if each name in the list selects something; else `refusal` says which does not. */
static bool names_all_select(const struct arguments *arguments)
{
	static struct arguments single; /* a list of one name */
	const char *name = arguments->suites;

	while (*name != '\0') {
		size_t length = strcspn(name, ",");
		bool selects = false;

		memcpy(single.suites, name, length);
		single.suites[length] = '\0';
		for (size_t i = 0; i < registered_count() && !selects; i++) {
			selects = arguments_selects(&single, benchmarks_start[i]->name);
		}
		if (!selects) {
			(void)snprintf(refusal, sizeof(refusal), "suite=%s selects no benchmark",
				       single.suites);
			return false;
		}
		name += length + (name[length] == ',');
	}
	return true;
}

/* A share of what was asked: fewer still if `batch=` makes each sample long. */
static uint32_t batched_samples(uint32_t asked)
{
	uint32_t divisor = BATCHED_OPERATIONS;
	uint32_t samples;

	if (engine.batch > BATCHED_OPERATIONS * BATCHED_OPERATIONS) {
		divisor = engine.batch / BATCHED_OPERATIONS;
	}
	samples = asked / divisor;
	if (samples < BATCHED_SAMPLES_MIN) {
		samples = BATCHED_SAMPLES_MIN;
	}
	return samples < asked ? samples : asked;
}

/* False, with the core, if a pair names one that is not there. */
static bool pairs_are_online(const struct pair_list *list, uint64_t *absent)
{
	for (uint32_t i = 0; i < 2U * list->count; i++) {
		uint8_t core = i % 2 == 0 ? list->pairs[i / 2].from : list->pairs[i / 2].to;

		if (core != PAIR_ANY && !smp_is_online(core)) {
			*absent = core;
			return false;
		}
	}
	return true;
}

static uint32_t samples_of(const struct benchmark *benchmark, uint32_t asked)
{
	uint32_t samples = asked;

	if (engine_is_check(benchmark)) {
		return 1;
	}
	if (benchmark->sample_count != NULL) {
		samples = benchmark->sample_count(asked);
	}
	if (benchmark->batched) {
		samples = batched_samples(samples);
	}
	return samples == 0 ? 1 : samples;
}

static bool same_unit(const struct benchmark *a, const struct benchmark *b)
{
	return a->group != NULL && b->group != NULL && strcmp(a->group, b->group) == 0;
}

static void add_run(const struct benchmark *benchmark, enum benchmark_state state)
{
	engine.runs[engine.run_count++] = (struct benchmark_run){
		.benchmark = benchmark,
		.state = state,
		.samples = samples_of(benchmark, engine.samples),
		.random = &engine.random,
	};
}

/* Adds the selected benchmarks that are in one unit with `leader`. */
static void add_unit(const struct benchmark *leader, const struct arguments *arguments)
{
	struct engine_unit *unit = &engine.units[engine.unit_count++];

	unit->first = engine.run_count;
	for (size_t i = 0; i < registered_count(); i++) {
		const struct benchmark *benchmark = benchmarks_start[i];

		if ((benchmark == leader || same_unit(benchmark, leader)) &&
		    arguments_selects(arguments, benchmark->name)) {
			add_run(benchmark, BENCHMARK_READY);
		}
	}
	unit->count = engine.run_count - unit->first;
}

/* Adds the units of one hazard in drawn order. */
static void add_units(const struct benchmark **leaders, uint32_t count,
		      const struct arguments *arguments, uint32_t hazard)
{
	const struct benchmark *left[BENCHMARK_MAX];
	uint32_t left_count = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (leaders[i]->hazard == hazard) {
			left[left_count++] = leaders[i];
		}
	}
	while (left_count > 0) {
		uint32_t drawn = random_below(&engine.random, left_count);

		add_unit(left[drawn], arguments);
		left[drawn] = left[--left_count];
	}
}

/* Lists all runs: the selected ones unit by unit, the units in drawn order, then all others. */
static void draw_order(const struct arguments *arguments)
{
	static const struct benchmark *leaders[BENCHMARK_MAX];
	uint32_t leader_count = 0;

	for (size_t i = 0; i < registered_count(); i++) {
		const struct benchmark *benchmark = benchmarks_start[i];
		bool known = false;

		for (uint32_t k = 0; k < leader_count && !known; k++) {
			known = same_unit(benchmark, leaders[k]);
		}
		if (!known && arguments_selects(arguments, benchmark->name)) {
			leaders[leader_count++] = benchmark;
		}
	}
	for (uint32_t hazard = 0; hazard <= HAZARD_MAX; hazard++) {
		add_units(leaders, leader_count, arguments, hazard);
	}
	for (size_t i = 0; i < registered_count(); i++) {
		if (!arguments_selects(arguments, benchmarks_start[i]->name)) {
			add_run(benchmarks_start[i], BENCHMARK_NOT_SELECTED);
		}
	}
}

static bool is_ready(const struct benchmark_run *run)
{
	return run->state == BENCHMARK_READY;
}

/* What the rows of all ready benchmarks take. */
struct store_need {
	uint64_t bytes;
	uint32_t rows;
	uint32_t most_samples;
};

static struct store_need store_need(void)
{
	struct store_need need = {.bytes = BUFFER_ALIGN};

	for (uint32_t i = 0; i < engine.run_count; i++) {
		const struct benchmark_run *run = &engine.runs[i];
		uint64_t row_bytes = (uint64_t)run->samples * sizeof(int64_t) +
				     engine.buffer_offset + BUFFER_ALIGN;
		uint32_t run_rows;

		if (!is_ready(run) || engine_is_check(run->benchmark)) {
			continue;
		}
		run_rows = run->benchmark->row_count(smp_online_count());
		need.bytes += row_bytes * run_rows;
		need.rows += run_rows + (run->benchmark->control != NULL);
		need.most_samples =
			run->samples > need.most_samples ? run->samples : need.most_samples;
	}
	need.bytes += need.rows * sizeof(struct sample_row);
	need.bytes += memory_need_report(need.rows, need.most_samples);
	return need;
}

/* With samples=auto, lowers the cap until memory holds the samples. */
static void fit_cap(void)
{
	while (engine.ci_ppm != 0 && engine.samples > AUTO_CAP_MIN &&
	       store_need().bytes > arena_free_bytes()) {
		engine.samples /= 2;
		for (uint32_t i = 0; i < engine.run_count; i++) {
			engine.runs[i].samples =
				samples_of(engine.runs[i].benchmark, engine.samples);
		}
	}
}

/* Opens the store if memory holds it and what the report will take; else false with numbers. */
static bool open_store(const char **reason, uint64_t numbers[3])
{
	struct store_need need = store_need();
	uint64_t free_bytes;

	if (need.rows > BENCHMARK_ROWS_MAX) {
		*reason = "%lu rows are more than the %lu that the store takes";
		numbers[0] = need.rows;
		numbers[1] = BENCHMARK_ROWS_MAX;
		return false;
	}
	if (need.most_samples > SAMPLE_CODE_SAMPLES_MAX) {
		*reason = "samples=%lu is more than the %lu that a row can hold";
		numbers[0] = need.most_samples;
		numbers[1] = SAMPLE_CODE_SAMPLES_MAX;
		return false;
	}
	free_bytes = arena_free_bytes();
	if (need.bytes > free_bytes || !samples_start(need.rows)) {
		*reason = "samples=%lu needs %lu bytes, memory holds %lu";
		numbers[0] = engine.samples;
		numbers[1] = need.bytes;
		numbers[2] = arena_free_bytes();
		return false;
	}
	engine.spare_bytes = free_bytes - need.bytes;
	return true;
}

static void prepare_all(void)
{
	for (uint32_t i = 0; i < engine.run_count; i++) {
		struct benchmark_run *run = &engine.runs[i];

		if (!is_ready(run) || run->benchmark->prepare == NULL) {
			continue;
		}
		engine.current = run;
		if (!run->benchmark->prepare(run)) {
			(void)benchmark_fail(run, "it could not prepare and gave no reason", 0, 0,
					     0);
		}
		engine.current = NULL;
	}
}

static const struct sample_row *total_row(const struct benchmark *benchmark)
{
	for (uint32_t i = 0; i < samples_row_count(); i++) {
		const struct sample_row *row = samples_row(i);

		if (row->benchmark == benchmark->name && strcmp(row->metric, TOTAL_METRIC) == 0) {
			return row;
		}
	}
	return NULL;
}

/* The run of `run`'s control, if it takes part and is sampled alternately with it. */
static const struct benchmark_run *control_of(const struct benchmark_run *run)
{
	for (uint32_t i = 0; i < engine.run_count; i++) {
		const struct benchmark_run *other = &engine.runs[i];

		if (is_ready(other) && same_unit(other->benchmark, run->benchmark) &&
		    strcmp(other->benchmark->name, run->benchmark->control) == 0) {
			return other;
		}
	}
	return NULL;
}

static void open_derived_rows(void)
{
	for (uint32_t i = 0; i < engine.run_count; i++) {
		const struct benchmark_run *run = &engine.runs[i];
		const struct benchmark_run *control;
		const struct sample_row *minuend;
		const struct sample_row *subtrahend;

		if (!is_ready(run) || run->benchmark->control == NULL) {
			continue;
		}
		control = control_of(run);
		minuend = total_row(run->benchmark);
		subtrahend = control == NULL ? NULL : total_row(control->benchmark);
		if (minuend != NULL && subtrahend != NULL) {
			(void)samples_open_derived(run->benchmark->name, NET_METRIC, minuend,
						   subtrahend);
		}
	}
}

static uint64_t unit_bound_ms(const struct engine_unit *unit)
{
	uint64_t online = smp_online_count();
	uint64_t sample_us = BOUND_SAMPLE_US + BOUND_SAMPLE_CORE_US * online;
	uint64_t milliseconds = 0;

	for (uint32_t i = unit->first; i < unit->first + unit->count; i++) {
		const struct benchmark_run *run = &engine.runs[i];

		if (!is_ready(run)) {
			continue;
		}
		if (engine_is_check(run->benchmark)) {
			milliseconds += BOUND_CHECK_MS + BOUND_CHECK_PAIR_MS * online * online;
		} else if (run->benchmark->bound_ms != NULL) {
			milliseconds += run->benchmark->bound_ms(run);
		} else {
			uint64_t share =
				run->benchmark->batched ? engine.batch / BOUND_OPERATIONS : 0;

			uint64_t more = run->benchmark->sample_us == NULL
						? 0
						: run->benchmark->sample_us((uint32_t)online);

			milliseconds += ((uint64_t)run->samples + engine.warmup) *
					(sample_us + more) * (1 + share) / 1000;
		}
	}
	return milliseconds;
}

/*
 * Adds up the time bound. False with a reason if a unit may take longer than the watchdog waits:
 * nobody arms it anew while samples are taken.
 */
static bool bound_time(const char **reason, uint64_t numbers[3])
{
	engine.bound_ms = BOUND_BASE_MS;
	for (uint32_t i = 0; i < engine.unit_count; i++) {
		struct engine_unit *unit = &engine.units[i];
		uint64_t bound_ms = unit_bound_ms(unit);
		uint64_t watchdog_ms = bound_ms * WATCHDOG_FACTOR + WATCHDOG_MARGIN_MS;

		if (watchdog_max_ms() != 0 && watchdog_ms > watchdog_max_ms()) {
			*reason = "%s may take %lu ms, the watchdog waits at most %lu";
			numbers[0] = (uint64_t)(uintptr_t)engine.runs[unit->first].benchmark->name;
			numbers[1] = watchdog_ms;
			numbers[2] = watchdog_max_ms();
			return false;
		}
		unit->watchdog_ms = (uint32_t)watchdog_ms;
		engine.bound_ms += bound_ms;
	}
	return true;
}

bool engine_plan(const struct arguments *arguments, const char **reason, uint64_t numbers[3])
{
	if (registered_count() > BENCHMARK_MAX) {
		*reason = "%lu benchmarks are more than the %lu that the engine takes";
		numbers[0] = registered_count();
		numbers[1] = BENCHMARK_MAX;
		return false;
	}
	if (!names_all_select(arguments)) {
		*reason = refusal;
		return false;
	}
	if (arguments->ci_ppm != 0 && !arguments->samples_auto) {
		*reason = "ci= needs samples=auto";
		return false;
	}
	if (!pairs_are_online(&arguments->pairs, &numbers[0])) {
		*reason = "pair= names core %lu, which is not online";
		return false;
	}
	/* Each boot of a run draws anew, and no boot repeats one of a run with a nearby seed. */
	random_seed(&engine.random, arguments->seed);
	random_seed(&engine.random, random_next(&engine.random) + arguments->boot);
	engine.stack_offset = random_below(&engine.random, STACK_OFFSETS) * STACK_ALIGN;
	engine.buffer_offset = random_below(&engine.random, BUFFER_OFFSETS) * BUFFER_ALIGN;
	engine.arguments = arguments;
	engine.warmup = arguments->warmup;
	engine.samples = arguments->samples_auto ? ENGINE_AUTO_CAP : arguments->samples;
	engine.ci_ppm = 0;
	if (arguments->samples_auto) {
		engine.ci_ppm = arguments->ci_ppm == 0 ? ENGINE_AUTO_CI_PPM : arguments->ci_ppm;
	}
	engine.batch = arguments->batch;
	engine.counter_step = pace_counter_step();
	engine.run_count = 0;
	engine.unit_count = 0;
	draw_order(arguments);
	fit_cap();
	if (!open_store(reason, numbers)) {
		return false;
	}
	prepare_all();
	open_derived_rows();
	engine.spin_range = pace_spin_range();
	if (!bound_time(reason, numbers)) {
		return false;
	}
	if (!survivors_begin()) {
		*reason = "no memory for watchdog=on";
		return false;
	}
	return true;
}

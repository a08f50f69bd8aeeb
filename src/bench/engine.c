/*
 * Running the plan: unit by unit, warm-up first, within a unit in rounds that pair the cases up,
 * each sample after a gap of random length. With samples=auto, rounds come in blocks; what is done
 * between two of them is not timed code, but the console stays locked.
 */
#include "el1bench/engine.h"

#include <stddef.h>

#include "el1bench/cpu.h"
#include "el1bench/smp.h"
#include "el1bench/survivors.h"
#include "el1bench/watchdog.h"
#include "engine_state.h"
#include "pace.h"

#define ALL_ROUNDS UINT32_MAX
#define AUTO_FIRST_BLOCK 128 /* even: two rounds belong together */

struct engine engine;

static const struct engine_unit *unit;     /* that is being sampled */
static uint32_t unit_order[BENCHMARK_MAX]; /* of its members, drawn for each pair of rounds */

TIMED_BETWEEN static bool is_live(const struct benchmark_run *run)
{
	return run->state == BENCHMARK_RUNNING;
}

TIMED_BETWEEN static void finish(struct benchmark_run *run)
{
	if (run->benchmark->finish != NULL) {
		engine.current = run;
		run->benchmark->finish(run);
	}
}

/* How many rounds a member takes part in. */
TIMED_BETWEEN static uint32_t rounds_of(const struct benchmark_run *run, bool warming)
{
	if (!is_live(run)) {
		return 0;
	}
	if (warming) {
		return engine_is_check(run->benchmark) ? 0 : engine.warmup;
	}
	return run->samples;
}

/* Interrupts without a handler, on all cores so far. */
TIMED_BETWEEN static uint32_t spurious_interrupts(void)
{
	uint32_t count = 0;

	for (uint32_t position = 0; position < smp_online_count(); position++) {
		count += cpus[smp_online_cpu(position)].spurious_interrupts;
	}
	return count;
}

TIMED_BETWEEN static void take_sample(struct benchmark_run *run, uint32_t index)
{
	uint32_t spurious = spurious_interrupts();

	engine.current = run;
	run->index = index;
	pace_spin(random_below(&engine.random, engine.spin_range));
	if (!run->benchmark->sample(run)) {
		(void)benchmark_fail(run, "it ended early and gave no reason", 0, 0, 0);
	}
	if (spurious_interrupts() != spurious) {
		samples_exclude_latest(run->benchmark->name, SAMPLE_SPURIOUS);
	}
	if (!is_live(run)) {
		finish(run);
	}
}

/* A permutation of the unit's members, each equally likely. */
TIMED_BETWEEN static void draw_unit_order(void)
{
	for (uint32_t i = 0; i < unit->count; i++) {
		uint32_t place = random_below(&engine.random, i + 1);

		unit_order[i] = unit_order[place];
		unit_order[place] = i;
	}
}

/*
 * All rounds of a unit: each takes one sample of every live member. Two rounds share an order, the
 * second one mirrored (A B B A), so that a drift over time weighs on all members alike.
 */
TIMED_BETWEEN static uint32_t sample_rounds(bool warming, uint32_t first, uint32_t end)
{
	struct benchmark_run *members = &engine.runs[unit->first];
	uint32_t rounds = end;

	samples_warm_up(warming);
	for (uint32_t round = first; round < rounds && round < end; round++) {
		bool mirrored = round % 2 == 1;

		if (!mirrored) {
			draw_unit_order();
		}
		rounds = 0;
		for (uint32_t i = 0; i < unit->count; i++) {
			uint32_t place = mirrored ? unit->count - 1 - i : i;
			struct benchmark_run *run = &members[unit_order[place]];
			uint32_t own_rounds = rounds_of(run, warming);

			if (round < own_rounds) {
				take_sample(run, round);
			}
			rounds = own_rounds > rounds ? own_rounds : rounds;
		}
	}
	samples_warm_up(false);
	return rounds;
}

/*
 * Blocks of rounds, each as many as all before it, until all rows are precise enough. Looking at
 * them leaves the caches in another state: it is followed by warm-up rounds again.
 */
static void sample_until_precise(void)
{
	uint32_t end = AUTO_FIRST_BLOCK;
	uint32_t rounds = sample_rounds(false, 0, end);

	while (end < rounds && !engine_unit_is_precise(unit)) {
		(void)sample_rounds(true, 0, ALL_ROUNDS);
		rounds = sample_rounds(false, end, 2 * end);
		end *= 2;
	}
}

TIMED_BETWEEN static void start_unit(void)
{
	struct benchmark_run *members = &engine.runs[unit->first];

	for (uint32_t i = 0; i < unit->count; i++) {
		if (members[i].state == BENCHMARK_READY) {
			members[i].state = BENCHMARK_RUNNING;
		}
	}
}

TIMED_BETWEEN static void finish_unit(void)
{
	struct benchmark_run *members = &engine.runs[unit->first];

	for (uint32_t i = 0; i < unit->count; i++) {
		if (is_live(&members[i])) {
			finish(&members[i]);
		}
		if (is_live(&members[i])) {
			members[i].state = BENCHMARK_PASSED;
		}
	}
	engine.current = NULL;
}

static void run_units(void)
{
	for (uint32_t i = 0; i < engine.unit_count; i++) {
		unit = &engine.units[i];
		watchdog_arm(unit->watchdog_ms);
		start_unit();
		(void)sample_rounds(true, 0, ALL_ROUNDS);
		if (engine.ci_ppm == 0) {
			(void)sample_rounds(false, 0, ALL_ROUNDS);
		} else {
			sample_until_precise();
		}
		finish_unit();
		if (engine.ci_ppm != 0) {
			engine_note_imprecise(unit);
		}
		survivors_save(i);
	}
}

void engine_run(const struct engine_hooks *hooks)
{
	hooks->timing_starts();
	pace_call(run_units, engine.stack_offset);
	hooks->timing_ends(&engine.checks);
}

const struct engine_checks *engine_checks(void)
{
	engine.checks.counter_backwards = 0;
	engine.checks.lost_interrupts = 0;
	engine.checks.spurious_interrupts = spurious_interrupts();
	for (uint32_t i = 0; i < samples_row_count(); i++) {
		const struct sample_row *row = samples_row(i);

		engine.checks.counter_backwards += row->excluded[SAMPLE_BACKWARDS];
		engine.checks.lost_interrupts += row->excluded[SAMPLE_LOST];
	}
	return &engine.checks;
}

uint64_t engine_bound_ms(void)
{
	return engine.bound_ms == 0 ? 1 : engine.bound_ms;
}

uint32_t engine_samples(void)
{
	return engine.samples;
}

uint32_t engine_ci_ppm(void)
{
	return engine.ci_ppm;
}

uint32_t engine_run_count(void)
{
	return engine.run_count;
}

const struct benchmark_run *engine_run_at(uint32_t position)
{
	return position < engine.run_count ? &engine.runs[position] : NULL;
}

const struct benchmark_run *engine_current(void)
{
	return engine.current;
}

void engine_mark_failed(const char *reason, uint64_t a, uint64_t b, uint64_t c)
{
	if (engine.current != NULL) {
		(void)benchmark_fail(engine.current, reason, a, b, c);
	}
}

void engine_note_output(size_t bytes, const uint64_t callers[BENCHMARK_CALLERS])
{
	struct stray_output *stray;

	if (engine.current == NULL) {
		return;
	}
	stray = &engine.current->stray;
	for (unsigned int i = 0; stray->bytes == 0 && i < BENCHMARK_CALLERS; i++) {
		stray->callers[i] = callers[i];
	}
	stray->bytes += bytes;
}

uint32_t engine_stack_offset(void)
{
	return engine.stack_offset;
}

uint32_t engine_buffer_offset(void)
{
	return engine.buffer_offset;
}

uint32_t engine_counter_step(void)
{
	return pace_counter_step();
}

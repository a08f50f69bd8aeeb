/*
 * psci.suspend.{standby,core,deepest}.{serial,parallel}: CPU_SUSPEND, as its caller sees it; one
 * core after the other, or all right after a meeting. psci.wake.* is the same with the wake-up at
 * any moment of the way into the state (wake_sweep.h).
 *
 * Metrics: `call-to-resume`: before the call -> the first instruction back, after the call
 * (standby) or at the resume entry (power-down). `wake-latency`: when it was due to wake -> the
 * same instruction. `wake-to-c`, for a power-down: when it was due -> back in C. `inline-return`:
 * before the call -> after it, where a power-down came back to its caller. With stamps of firmware
 * also `powerdown`, `wakeup`, `cache-flush` (stamps.h).
 */
#include <stddef.h>

#include "el1bench/counter.h"
#include "el1bench/image.h"
#include "el1bench/platform.h"
#include "el1bench/psci.h"
#include "el1bench/smp.h"
#include "psci_suite.h"
#include "sleeper.h"
#include "wake_sweep.h"

enum { RESUME, WAKE, TO_C, INLINE, METRICS };

/* A benchmark's variant: the kind of state, 1 for parallel, 1 for a sweep. */
#define VARIANT(kind, parallel, sweep) ((kind)*4U + (parallel)*2U + (sweep))
#define VARIANTS VARIANT(IDLE_KINDS, 0, 0)
#define KIND(variant) ((variant) / 4)
#define IS_PARALLEL(variant) (((variant)&2U) != 0)
#define IS_SWEEP(variant) (((variant)&1U) != 0)

static const char *const metric_names[METRICS] = {"call-to-resume", "wake-latency", "wake-to-c",
						  "inline-return"};

static struct sample_row *rows[VARIANTS][CPU_MAX][METRICS];
static struct sample_row *stamp_rows[VARIANTS][CPU_MAX][STAMP_METRICS];
static struct sleep_order orders[IDLE_KINDS];
static uint64_t windows[VARIANTS]; /* ticks: of the sweeps */
static uint64_t mean_ticks;        /* of a sleep */

static uint32_t row_count(uint32_t online)
{
	return online * (METRICS + STAMP_METRICS);
}

static uint32_t sample_us(uint32_t online)
{
	return 2 * online * image_arguments()->sleep_us;
}

static bool prepare(struct benchmark_run *run)
{
	uint32_t variant = run->benchmark->variant;
	uint32_t kind = KIND(variant);
	struct sleep_order *order = &orders[kind];
	const struct arguments *arguments = image_arguments();
	const char *reason;
	struct idle_state state;
	int64_t features;

	if (!psci_available(run)) {
		return false;
	}
	features = psci_call(PSCI_FEATURES, PSCI_CPU_SUSPEND, 0, 0);
	if (features < 0) {
		return benchmark_skip(run, "PSCI_FEATURES of CPU_SUSPEND answers %s",
				      (uintptr_t)psci_result_name(features), 0, 0);
	}
	state = platform.idle_states.kinds[kind];
	if (!state.present) {
		return benchmark_skip(
			run, "neither the device tree nor power_state= has such a state", 0, 0, 0);
	}
	reason = sleepers_prepare();
	if (reason != NULL) {
		return benchmark_skip(run, reason, 0, 0, 0);
	}
	mean_ticks = counter_hz() * arguments->sleep_us / 1000000;
	*order = (struct sleep_order){
		.state = state.power_state,
		.powers_down = kind != IDLE_STANDBY,
		.by_interrupt = arguments->wake == WAKE_SGI ||
				(arguments->wake == WAKE_AUTO && state.timer_stops),
	};
	for (uint32_t position = 0; position < smp_online_count(); position++) {
		for (uint32_t metric = 0; metric < (order->powers_down ? METRICS : TO_C);
		     metric++) {
			if (IS_SWEEP(variant) && metric == TO_C) {
				continue;
			}
			rows[variant][position][metric] = benchmark_row(
				run, metric_names[metric], (int32_t)smp_online_cpu(position),
				SAMPLE_NO_CPU, NULL);
			if (rows[variant][position][metric] == NULL) {
				return false;
			}
		}
		if (!IS_SWEEP(variant) &&
		    !stamps_open(run, stamp_rows[variant][position],
				 (int32_t)smp_online_cpu(position), order->powers_down)) {
			return false;
		}
	}
	return true;
}

/* From half of what `sleep_us=` says to one and a half times that; of a sweep, up to twice that. */
TIMED static uint64_t draw_ticks(struct benchmark_run *run)
{
	uint32_t variant = run->benchmark->variant;

	if (IS_SWEEP(variant)) {
		return wake_sweep_draw(run, windows[variant], 2 * mean_ticks);
	}
	return mean_ticks / 2 + random_below(run->random, (uint32_t)mean_ticks + 1);
}

TIMED static void exclude(struct sample_row *const *row, enum sample_exclusion reason)
{
	for (uint32_t metric = 0; metric < INLINE; metric++) {
		if (row[metric] != NULL) {
			sample_exclude(row[metric], reason);
		}
	}
}

/* Takes down how a core slept. False after benchmark_fail or benchmark_skip. */
TIMED static bool record(struct benchmark_run *run, uint32_t position,
			 const struct sleeper *sleeper)
{
	uint32_t variant = run->benchmark->variant;
	struct sample_row *const *row = rows[variant][position];
	const struct suspend_outcome *outcome = &sleeper->outcome;
	uint64_t due = sleeper->due;
	uint32_t cpu = smp_online_cpu(position);
	bool returned = sleeper->powers_down && !outcome->at_entry;
	bool early;

	if (!sleeper->met) {
		return benchmark_fail(run, "core %lu did not meet the others", cpu, 0, 0);
	}
	if (outcome->result != PSCI_SUCCESS) {
		const char *name = psci_result_name(outcome->result);

		if (row[RESUME]->count + row[RESUME]->warmup_count == 0) {
			return benchmark_skip(run, "firmware answers power state 0x%lx with %s",
					      sleeper->state, (uintptr_t)name, 0);
		}
		return benchmark_fail(run, "power state 0x%lx was good; now core %lu gets %s",
				      sleeper->state, cpu, (uintptr_t)name);
	}
	if (sleeper->rescued) {
		exclude(row, SAMPLE_LOST);
		return benchmark_fail(run,
				      "core %lu slept on in power state 0x%lx when it was to wake, "
				      "until another core sent it an interrupt",
				      cpu, sleeper->state, 0);
	}
	if (!outcome->restored) {
		return benchmark_fail(run, "core %lu came back without all of its state", cpu, 0,
				      0);
	}
	if (returned) {
		sample_record(row[INLINE], (int64_t)(outcome->back - outcome->begin));
	}
	early = (int64_t)(outcome->back - due) < 0;
	if (IS_SWEEP(variant) && !early) {
		wake_sweep_record(&windows[variant], sleeper, row[RESUME], row[WAKE]);
		return true;
	}
	if (returned) {
		sample_exclude(row[RESUME], SAMPLE_INLINE);
		return true;
	}
	/* Or it came too late to be asleep by then. */
	if (early || (int64_t)(due - outcome->begin) <= 0) {
		exclude(row, SAMPLE_EARLY);
		return true;
	}
	sample_record(row[RESUME], (int64_t)(outcome->back - outcome->begin));
	sample_record(row[WAKE], (int64_t)(outcome->back - due));
	stamps_record(stamp_rows[variant][position], &sleeper->stamps, outcome->begin,
		      outcome->back);
	if (sleeper->powers_down) {
		sample_record(row[TO_C], (int64_t)(outcome->ready - due));
	}
	return true;
}

TIMED static bool lost(struct benchmark_run *run, uint32_t position)
{
	return benchmark_fail(run, "core %lu did not come back from power state 0x%lx",
			      smp_online_cpu(position), orders[KIND(run->benchmark->variant)].state,
			      0);
}

/* A core that another benchmark has lost, and said so, takes no part. */
TIMED static bool is_free(uint32_t position)
{
	uint32_t cpu = smp_online_cpu(position);

	return cpu == 0 || (smp_is_online(cpu) && smp_idle(cpu));
}

TIMED static bool sleep_serial(struct benchmark_run *run, uint32_t position)
{
	const struct sleeper *sleeper;

	sleeper = sleep_alone(position, &orders[KIND(run->benchmark->variant)]);
	return sleeper == NULL ? lost(run, position) : record(run, position, sleeper);
}

TIMED static bool sample(struct benchmark_run *run)
{
	uint32_t variant = run->benchmark->variant;
	struct sleep_order *order = &orders[KIND(variant)];
	const struct sample_row *first;
	uint32_t last = smp_online_count() - 1;
	uint32_t missing;

	sleepers_take_interrupts();
	order->ticks = draw_ticks(run);
	if (!IS_PARALLEL(variant)) {
		for (uint32_t position = last + 1; position-- > 0;) {
			if (is_free(position) && !sleep_serial(run, position)) {
				return false;
			}
		}
		return true;
	}
	/* A core that does not come back should not be core 0: another one tries it first. */
	while (!is_free(last)) {
		last--;
	}
	first = rows[variant][last][RESUME];
	if (first->count + first->warmup_count == 0) {
		return sleep_serial(run, last);
	}
	missing = sleep_together(order);
	if (missing != 0) {
		return lost(run, missing);
	}
	for (uint32_t position = 0; position <= last; position++) {
		const struct sleeper *sleeper = sleeper_at(position);

		if (sleeper != NULL && !record(run, position, sleeper)) {
			return false;
		}
	}
	return true;
}

#define SLEEP_BENCHMARK(identifier, text, what, how_many, kind, parallel, sweep)                   \
	static const struct benchmark identifier = {                                               \
		.name = text,                                                                      \
		.summary = what,                                                                   \
		.hazard = 2U + (kind),                                                             \
		.variant = VARIANT(kind, parallel, sweep),                                         \
		.sample_count = how_many,                                                          \
		.sample_us = sample_us,                                                            \
		.row_count = row_count,                                                            \
		.prepare = prepare,                                                                \
		.sample = sample,                                                                  \
	};                                                                                         \
	BENCHMARK(identifier)

#define SLEEP_BENCHMARKS(name, what, kind)                                                         \
	SLEEP_BENCHMARK(psci_suspend_##name##_serial, "psci.suspend." #name ".serial",             \
			what ", core after core", psci_slow_samples, kind, 0, 0);                  \
	SLEEP_BENCHMARK(psci_suspend_##name##_parallel, "psci.suspend." #name ".parallel",         \
			what ", all cores at once", psci_slow_samples, kind, 1, 0);                \
	SLEEP_BENCHMARK(psci_wake_##name##_serial, "psci.wake." #name ".serial",                   \
			what ", woken on the way", psci_sweep_samples, kind, 0, 1);                \
	SLEEP_BENCHMARK(psci_wake_##name##_parallel, "psci.wake." #name ".parallel",               \
			what ", all woken on the way", psci_sweep_samples, kind, 1, 1)

SLEEP_BENCHMARKS(standby, "CPU_SUSPEND to standby", IDLE_STANDBY);
SLEEP_BENCHMARKS(core, "power-down of the core", IDLE_CORE);
SLEEP_BENCHMARKS(deepest, "the deepest power-down", IDLE_DEEPEST);

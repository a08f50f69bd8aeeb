/*
 * psci.suspend.{standby,core,deepest}.{serial,parallel}: CPU_SUSPEND, as its caller sees it; one
 * core after the other, or all right after a meeting.
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

#define FEATURE_EXTENDED 2

enum { RESUME, WAKE, TO_C, INLINE, METRICS };

/* A benchmark's variant: the kind of state, twice, and 1 for parallel. */
#define VARIANT(kind, parallel) ((kind)*2U + (parallel))
#define VARIANTS VARIANT(IDLE_KINDS, 0)

static const char *const metric_names[METRICS] = {"call-to-resume", "wake-latency", "wake-to-c",
						  "inline-return"};

static struct sample_row *rows[VARIANTS][CPU_MAX][METRICS];
static struct sample_row *stamp_rows[VARIANTS][CPU_MAX][STAMP_METRICS];
static struct sleep_order orders[IDLE_KINDS];
static uint64_t mean_ticks; /* of a sleep */

static uint32_t row_count(uint32_t online)
{
	return online * (METRICS + STAMP_METRICS);
}

static uint32_t sample_us(uint32_t online)
{
	return 2 * online * image_arguments()->sleep_us;
}

/* The tree's states, or those that `power_state=` gives. */
static struct idle_states find_states(bool extended)
{
	const struct arguments *arguments = image_arguments();
	struct idle_states states = {0};

	if (arguments->power_state_count == 0) {
		return platform_idle_states(extended);
	}
	for (uint32_t i = 0; i < arguments->power_state_count; i++) {
		idle_states_add(&states, arguments->power_states[i], false, extended);
	}
	return states;
}

static bool prepare(struct benchmark_run *run)
{
	uint32_t variant = run->benchmark->variant;
	uint32_t kind = variant / 2;
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
	state = find_states((features & FEATURE_EXTENDED) != 0).kinds[kind];
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
			rows[variant][position][metric] = benchmark_row(
				run, metric_names[metric], (int32_t)smp_online_cpu(position),
				SAMPLE_NO_CPU, NULL);
			if (rows[variant][position][metric] == NULL) {
				return false;
			}
		}
		if (!stamps_open(run, stamp_rows[variant][position],
				 (int32_t)smp_online_cpu(position), order->powers_down)) {
			return false;
		}
	}
	return true;
}

/* From half of what `sleep_us=` says to one and a half times that. */
TIMED static uint64_t draw_ticks(struct benchmark_run *run)
{
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
	struct sample_row *const *row = rows[run->benchmark->variant][position];
	const struct suspend_outcome *outcome = &sleeper->outcome;
	uint64_t due = sleeper->due;
	uint32_t cpu = smp_online_cpu(position);

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
	if (sleeper->powers_down && !outcome->at_entry) {
		sample_exclude(row[RESUME], SAMPLE_INLINE);
		sample_record(row[INLINE], (int64_t)(outcome->back - outcome->begin));
		return true;
	}
	/* Too early, or too late to be asleep by then. */
	if ((int64_t)(outcome->back - due) < 0 || (int64_t)(due - outcome->begin) <= 0) {
		exclude(row, SAMPLE_EARLY);
		return true;
	}
	sample_record(row[RESUME], (int64_t)(outcome->back - outcome->begin));
	sample_record(row[WAKE], (int64_t)(outcome->back - due));
	stamps_record(stamp_rows[run->benchmark->variant][position], &sleeper->stamps,
		      outcome->begin, outcome->back);
	if (sleeper->powers_down) {
		sample_record(row[TO_C], (int64_t)(outcome->ready - due));
	}
	return true;
}

TIMED static bool lost(struct benchmark_run *run, uint32_t position)
{
	return benchmark_fail(run, "core %lu did not come back from power state 0x%lx",
			      smp_online_cpu(position), orders[run->benchmark->variant / 2].state,
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

	sleeper = sleep_alone(position, &orders[run->benchmark->variant / 2]);
	return sleeper == NULL ? lost(run, position) : record(run, position, sleeper);
}

TIMED static bool sample(struct benchmark_run *run)
{
	uint32_t variant = run->benchmark->variant;
	struct sleep_order *order = &orders[variant / 2];
	const struct sample_row *first;
	uint32_t last = smp_online_count() - 1;
	uint32_t missing;

	sleepers_take_interrupts();
	order->ticks = draw_ticks(run);
	if (variant % 2 == 0) {
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

#define SUSPEND_BENCHMARK(identifier, text, what, kind, parallel)                                  \
	static const struct benchmark identifier = {                                               \
		.name = text,                                                                      \
		.summary = what,                                                                   \
		.hazard = 2U + (kind),                                                             \
		.variant = VARIANT(kind, parallel),                                                \
		.sample_count = psci_slow_samples,                                                 \
		.sample_us = sample_us,                                                            \
		.row_count = row_count,                                                            \
		.prepare = prepare,                                                                \
		.sample = sample,                                                                  \
	};                                                                                         \
	BENCHMARK(identifier)

SUSPEND_BENCHMARK(psci_suspend_standby_serial, "psci.suspend.standby.serial",
		  "CPU_SUSPEND to standby, core after core", IDLE_STANDBY, 0);
SUSPEND_BENCHMARK(psci_suspend_standby_parallel, "psci.suspend.standby.parallel",
		  "CPU_SUSPEND to standby, all cores at once", IDLE_STANDBY, 1);
SUSPEND_BENCHMARK(psci_suspend_core_serial, "psci.suspend.core.serial",
		  "power-down of the core, core after core", IDLE_CORE, 0);
SUSPEND_BENCHMARK(psci_suspend_core_parallel, "psci.suspend.core.parallel",
		  "power-down of the core, all cores at once", IDLE_CORE, 1);
SUSPEND_BENCHMARK(psci_suspend_deepest_serial, "psci.suspend.deepest.serial",
		  "the deepest power-down, core after core", IDLE_DEEPEST, 0);
SUSPEND_BENCHMARK(psci_suspend_deepest_parallel, "psci.suspend.deepest.parallel",
		  "the deepest power-down, all cores at once", IDLE_DEEPEST, 1);

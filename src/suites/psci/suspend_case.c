/*
 * What the benchmarks of suspends share. Firmware's counts are read before the first sample that
 * counts and after the last one (and around warm-up in between), never within a sample.
 */
#include "suspend_case.h"

#include <stddef.h>

#include "el1bench/counter.h"
#include "el1bench/image.h"
#include "el1bench/platform.h"
#include "el1bench/psci.h"
#include "el1bench/smp.h"
#include "psci_suite.h"
#include "wake_sweep.h"

/* What is counted of a core; from ENTERED on by firmware. */
enum { CALLS, STATE, AT_ENTRY, INLINE, EARLY, DISORDER, SLEPT, ENTERED, RESIDENT, ENTERED_CORE };

static const char *const count_names[] = {
	[CALLS] = "calls",
	[STATE] = "power_state",
	[AT_ENTRY] = "resumed_at_entry",
	[INLINE] = "returned_inline",
	[EARLY] = "early",
	[DISORDER] = "stamps_out_of_order",
	[SLEPT] = "slept_us",
	[ENTERED] = "entered",
	[RESIDENT] = "resident_us",
	[ENTERED_CORE] = "entered_core",
};

static const char *const metric_names[SUSPEND_STAMPS] = {
	[SUSPEND_RESUME] = "call-to-resume",
	[SUSPEND_WAKE] = "wake-latency",
	[SUSPEND_TO_C] = "wake-to-c",
	[SUSPEND_INLINE] = "inline-return",
};

static uint64_t mean_ticks; /* of a sleep */

/* Nobody could wake the core but its own timer: only who asks for it risks a power-down. */
static bool may_sleep_alone(struct benchmark_run *run, const struct sleep_order *order)
{
	if (order->by_interrupt) {
		return benchmark_skip(run, "there is no second core to wake it by an interrupt", 0,
				      0, 0);
	}
	if (order->powers_down && image_arguments()->wake != WAKE_TIMER) {
		return benchmark_skip(
			run, "there is no second core to wake it; wake=timer tries it", 0, 0, 0);
	}
	return true;
}

bool suspend_case_prepare(struct benchmark_run *run, struct suspend_case *suspends,
			  enum idle_kind kind)
{
	const struct arguments *arguments = image_arguments();
	const struct idle_state *states = platform.idle_states.kinds;
	struct idle_state state;
	const char *reason;
	int64_t features;

	if (!psci_available(run)) {
		return false;
	}
	features = psci_call(PSCI_FEATURES, PSCI_CPU_SUSPEND, 0, 0);
	if (features < 0) {
		return benchmark_skip(run, "PSCI_FEATURES of CPU_SUSPEND answers %s",
				      (uintptr_t)psci_result_name(features), 0, 0);
	}
	state = states[kind];
	if (!state.present) {
		return benchmark_skip(
			run, "neither the device tree nor power_state= has such a state", 0, 0, 0);
	}
	reason = sleepers_prepare();
	if (reason != NULL) {
		return benchmark_skip(run, reason, 0, 0, 0);
	}
	mean_ticks = counter_hz() * arguments->sleep_us / 1000000;
	suspends->core_state = kind == IDLE_DEEPEST ? states[IDLE_CORE].power_state : 0;
	suspends->order = (struct sleep_order){
		.state = state.power_state,
		.powers_down = kind != IDLE_STANDBY,
		.by_interrupt = arguments->wake == WAKE_SGI ||
				(arguments->wake == WAKE_AUTO && state.timer_stops),
		.unguarded = smp_online_count() == 1,
	};
	return !suspends->order.unguarded || may_sleep_alone(run, &suspends->order);
}

/* How many of the counts there are. */
static uint32_t counts_offered(const struct suspend_case *suspends)
{
	if (psci_call(PSCI_FEATURES, PSCI_STAT_COUNT, 0, 0) < 0 ||
	    psci_call(PSCI_FEATURES, PSCI_STAT_RESIDENCY, 0, 0) < 0) {
		return ENTERED;
	}
	return suspends->core_state == 0 ? ENTERED_CORE : ENTERED_CORE + 1;
}

bool suspend_case_open(struct benchmark_run *run, struct suspend_case *suspends, uint32_t position,
		       bool together)
{
	struct suspend_core *core = &suspends->cores[position];
	int32_t cpu = (int32_t)smp_online_cpu(position);
	bool powers_down = suspends->order.powers_down;

	for (uint32_t metric = 0; metric < (powers_down ? SUSPEND_STAMPS : SUSPEND_TO_C);
	     metric++) {
		if (suspends->sweeps && metric == SUSPEND_TO_C) {
			continue;
		}
		core->rows[metric] =
			benchmark_row(run, metric_names[metric], cpu, SAMPLE_NO_CPU, NULL);
	}
	if (together && !suspends->sweeps) {
		core->rows[SUSPEND_ARRIVAL] = psci_place_row(run, cpu);
	}
	core->counts = (struct benchmark_counts){
		.benchmark = run->benchmark,
		.cpu = cpu,
		.count = counts_offered(suspends),
		.names = count_names,
		.values = {[STATE] = suspends->order.state},
	};
	benchmark_count(&core->counts);
	return (suspends->sweeps ||
		stamps_open(run, &core->rows[SUSPEND_STAMPS], cpu, powers_down)) &&
	       run->reason == NULL;
}

/* Firmware's counts, taken off at the beginning and added at the end, leave what is in between. */
TIMED_BETWEEN static void count_entries(struct suspend_case *suspends, bool counting)
{
	if (suspends->counting == counting) {
		return;
	}
	suspends->counting = counting;
	for (uint32_t position = 0; position < smp_online_count(); position++) {
		struct benchmark_counts *counts = &suspends->cores[position].counts;
		uint64_t target = platform.cpus[smp_online_cpu(position)].target;

		for (uint32_t i = ENTERED; i < counts->count; i++) {
			uint64_t value = psci_stat(
				i == RESIDENT ? PSCI_STAT_RESIDENCY : PSCI_STAT_COUNT, target,
				i == ENTERED_CORE ? suspends->core_state : suspends->order.state);

			counts->values[i] += counting ? -value : value;
		}
	}
}

/* From half of what `sleep_us=` says to one and a half times that; of a sweep, up to twice that. */
TIMED_BETWEEN void suspend_case_draw(struct benchmark_run *run, struct suspend_case *suspends)
{
	sleepers_take_interrupts();
	suspends->order.ticks =
		suspends->sweeps
			? wake_sweep_draw(run, suspends->window, 2 * mean_ticks)
			: mean_ticks / 2 + random_below(run->random, (uint32_t)mean_ticks + 1);
}

TIMED_BETWEEN void suspend_case_count(struct suspend_case *suspends)
{
	count_entries(suspends, !samples_are_warming_up());
}

/* In all rows but that of inline returns, so that the others keep the same indices. */
TIMED_BETWEEN static void exclude(const struct suspend_core *core, enum sample_exclusion reason)
{
	for (uint32_t row = 0; row < SUSPEND_ROWS; row++) {
		if (row != SUSPEND_INLINE && core->rows[row] != NULL) {
			sample_exclude(core->rows[row], reason);
		}
	}
}

TIMED_BETWEEN bool suspend_case_check(struct benchmark_run *run,
				      const struct suspend_case *suspends, uint32_t position,
				      const struct sleeper *sleeper)
{
	uint32_t cpu = smp_online_cpu(position);
	uint32_t state = suspends->order.state;
	const struct sleeper *there = sleeper_at(position);

	if (there != NULL && there->outcome.lost != NULL) {
		return benchmark_fail(run, "core %lu came back, but not as it was: %s", cpu,
				      (uintptr_t)there->outcome.lost, 0);
	}
	if (sleeper == NULL) {
		return benchmark_fail(run, "core %lu did not come back from power state 0x%lx", cpu,
				      state, 0);
	}
	if (!sleeper->met) {
		return benchmark_fail(run, "core %lu did not meet the others", cpu, 0, 0);
	}
	if (sleeper->outcome.result != PSCI_SUCCESS) {
		uintptr_t name = (uintptr_t)psci_result_name(sleeper->outcome.result);

		if (!suspends->tried) {
			return benchmark_skip(run, "firmware answers power state 0x%lx with %s",
					      state, name, 0);
		}
		return benchmark_fail(run, "power state 0x%lx was good; now core %lu gets %s",
				      state, cpu, name);
	}
	if (sleeper->rescued) {
		exclude(&suspends->cores[position], SAMPLE_LOST);
		return benchmark_fail(run,
				      "core %lu slept on in power state 0x%lx when it was to wake, "
				      "until another core sent it an interrupt",
				      cpu, state, 0);
	}
	return true;
}

TIMED_BETWEEN bool suspend_case_record(struct benchmark_run *run, struct suspend_case *suspends,
				       uint32_t position, const struct sleeper *sleeper)
{
	struct suspend_core *core = &suspends->cores[position];
	const struct suspend_outcome *outcome;
	uint64_t counted = samples_are_warming_up() ? 0 : 1;
	uint64_t *values = core->counts.values;
	bool returned;
	bool early;
	uint64_t due;

	if (!suspend_case_check(run, suspends, position, sleeper)) {
		return false;
	}
	outcome = &sleeper->outcome;
	due = sleeper->due;
	returned = sleeper->powers_down && !outcome->at_entry;
	suspends->tried = true;
	values[CALLS] += counted;
	values[SLEPT] += counted * (outcome->back - outcome->begin);
	values[AT_ENTRY] += outcome->at_entry ? counted : 0;
	if (returned) {
		values[INLINE] += counted;
		sample_record(core->rows[SUSPEND_INLINE],
			      (int64_t)(outcome->back - outcome->begin));
	}
	early = (int64_t)(outcome->back - due) < 0;
	if (suspends->sweeps && !early) {
		wake_sweep_record(&suspends->window, sleeper, core->rows[SUSPEND_RESUME],
				  core->rows[SUSPEND_WAKE]);
		return true;
	}
	if (returned && !suspends->sweeps) {
		sample_exclude(core->rows[SUSPEND_RESUME], SAMPLE_INLINE);
		return true;
	}
	/* Or it came too late to be asleep by then. */
	if (early || (int64_t)(due - outcome->begin) <= 0) {
		values[EARLY] += counted;
		exclude(core, SAMPLE_EARLY);
		return true;
	}
	sample_record(core->rows[SUSPEND_RESUME], (int64_t)(outcome->back - outcome->begin));
	sample_record(core->rows[SUSPEND_WAKE], (int64_t)(outcome->back - due));
	if (core->rows[SUSPEND_TO_C] != NULL) {
		sample_record(core->rows[SUSPEND_TO_C], (int64_t)(outcome->ready - due));
	}
	if (core->rows[SUSPEND_ARRIVAL] != NULL) {
		sample_record(core->rows[SUSPEND_ARRIVAL], psci_place(position));
	}
	if (!stamps_record(&core->rows[SUSPEND_STAMPS], &sleeper->stamps, outcome->begin,
			   outcome->back)) {
		values[DISORDER] += counted;
	}
	return true;
}

TIMED_BETWEEN void suspend_case_finish(struct benchmark_run *run, struct suspend_case *suspends)
{
	count_entries(suspends, false);
	for (uint32_t position = 0; position < smp_online_count(); position++) {
		struct benchmark_counts *counts = &suspends->cores[position].counts;
		uint64_t *values = counts->values;
		uint64_t slept = values[AT_ENTRY];

		/* Whoever is woken on the way to standby may not have got there. */
		if (!suspends->order.powers_down && !suspends->sweeps) {
			slept = values[CALLS] - values[EARLY];
		}
		values[SLEPT] = values[SLEPT] * 1000000 / counter_hz();
		if (counts->count > ENTERED && values[ENTERED] + values[ENTERED_CORE] < slept) {
			(void)benchmark_fail(run,
					     "core %lu slept %lu times, firmware has counted %lu",
					     (uint64_t)counts->cpu, slept,
					     values[ENTERED] + values[ENTERED_CORE]);
		}
	}
}

/*
 * psci.suspend.{standby,core,deepest}.{serial,parallel}: CPU_SUSPEND, as its caller sees it; one
 * core after the other, or all right after a meeting. psci.wake.* is the same with the wake-up at
 * any moment of the way into the state (wake_sweep.h).
 *
 * Metrics: `call-to-resume`: before the call -> the first instruction back, after the call
 * (standby) or at the resume entry (power-down). `wake-latency`: when it was due to wake -> the
 * same instruction. `wake-to-c`, for a power-down: when it was due -> back in C. `inline-return`:
 * before the call -> after it, where a power-down came back to its caller. With stamps of firmware
 * also `powerdown`, `wakeup`, `cache-flush` (stamps.h). In parallel also `arrival`: how many cores
 * have called before, by their stamps.
 */
#include <stddef.h>

#include "el1bench/image.h"
#include "el1bench/smp.h"
#include "psci_suite.h"
#include "suspend_case.h"

/* A benchmark's variant: the kind of state, 1 for parallel, 1 for a sweep. */
#define VARIANT(kind, parallel, sweep) ((kind)*4U + (parallel)*2U + (sweep))
#define VARIANTS VARIANT(IDLE_KINDS, 0, 0)
#define KIND(variant) ((enum idle_kind)((variant) / 4))
#define IS_PARALLEL(variant) (((variant)&2U) != 0)
#define IS_SWEEP(variant) (((variant)&1U) != 0)

static struct suspend_case cases[VARIANTS];

static uint32_t row_count(uint32_t online)
{
	return online * SUSPEND_ROWS;
}

static uint32_t sample_us(uint32_t online)
{
	return 2 * online * image_arguments()->sleep_us;
}

static bool prepare(struct benchmark_run *run)
{
	uint32_t variant = run->benchmark->variant;
	bool parallel = IS_PARALLEL(variant);

	cases[variant].sweeps = IS_SWEEP(variant);
	if (!suspend_case_prepare(run, &cases[variant], KIND(variant))) {
		return false;
	}
	if (parallel && smp_online_count() < 2) {
		return benchmark_skip(run, "it takes two cores", 0, 0, 0);
	}
	for (uint32_t position = 0; position < smp_online_count(); position++) {
		if (!suspend_case_open(run, &cases[variant], position, parallel)) {
			return false;
		}
	}
	return true;
}

/*
 * A core that an earlier suspend has cost, and the benchmark has said so, takes no part. Finds the
 * last one that does, as long as there is another one to wake it, or there has never been one.
 */
TIMED_BETWEEN static bool find_last(struct benchmark_run *run, const struct suspend_case *suspends,
				    uint32_t *last)
{
	*last = smp_online_count() - 1;
	while (*last != 0 && !sleeper_is_free(*last)) {
		(*last)--;
	}
	return *last != 0 || (suspends->order.unguarded && sleeper_is_free(0)) ||
	       benchmark_fail(run, "no core is left that could wake another one", 0, 0, 0);
}

/* A core that does not come back should not be core 0: another one tries the state first. */
TIMED_BETWEEN static bool try_state(struct benchmark_run *run, struct suspend_case *suspends,
				    uint32_t last)
{
	suspends->tried =
		suspends->tried ||
		suspend_case_check(run, suspends, last, sleep_alone(last, &suspends->order));
	return suspends->tried;
}

TIMED_BETWEEN static bool sleep_serial(struct benchmark_run *run, struct suspend_case *suspends,
				       uint32_t last)
{
	suspend_case_count(suspends);
	for (uint32_t position = last + 1; position-- > 0;) {
		if (sleeper_is_free(position) &&
		    !suspend_case_record(run, suspends, position,
					 sleep_alone(position, &suspends->order))) {
			return false;
		}
	}
	return true;
}

TIMED_BETWEEN static bool sleep_parallel(struct benchmark_run *run, struct suspend_case *suspends,
					 uint32_t last)
{
	uint32_t online = smp_online_count();
	uint32_t missing;

	if (!try_state(run, suspends, last)) {
		return false;
	}
	suspend_case_count(suspends);
	missing = sleep_together(&suspends->order);
	if (missing != 0) {
		return suspend_case_check(run, suspends, missing, NULL);
	}
	for (uint32_t position = 0; position < online; position++) {
		const struct sleeper *sleeper = sleeper_at(position);

		psci_called[position] = sleeper == NULL ? 0 : sleeper->outcome.begin;
	}
	for (uint32_t position = 0; position < online; position++) {
		const struct sleeper *sleeper = sleeper_at(position);

		if (sleeper != NULL && !suspend_case_record(run, suspends, position, sleeper)) {
			return false;
		}
	}
	return true;
}

TIMED_BETWEEN static bool sample(struct benchmark_run *run)
{
	uint32_t variant = run->benchmark->variant;
	struct suspend_case *suspends = &cases[variant];
	uint32_t last;

	if (!find_last(run, suspends, &last)) {
		return false;
	}
	suspend_case_draw(run, suspends);
	return IS_PARALLEL(variant) ? sleep_parallel(run, suspends, last)
				    : sleep_serial(run, suspends, last);
}

TIMED_BETWEEN static void finish(struct benchmark_run *run)
{
	suspend_case_finish(run, &cases[run->benchmark->variant]);
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
		.finish = finish,                                                                  \
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

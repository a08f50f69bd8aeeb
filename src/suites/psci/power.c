/*
 * psci.cpu-off, psci.cpu-on, psci.cpu-off.parallel, psci.cpu-off.deepest: the other cores leave
 * through CPU_OFF and come back through CPU_ON. In the first two each goes the whole way before the
 * next one does. In `parallel` all leave right after a meeting; in `deepest` one after another, and
 * then core 0 suspends to the deepest state, so that all that they share can go down, too. Both
 * come back one after another.
 *
 * Metric `call-to-off`: the core before CPU_OFF -> AFFINITY_INFO tells core 0 that it is off.
 * Metrics `call-to-entry`, `call-to-ready`: core 0 before CPU_ON -> the core's first instruction ->
 * the core in C at EL1 with its MMU on. With stamps of firmware also `powerdown`, `wakeup`,
 * `cache-flush` (stamps.h). `arrival`, and core 0's metrics in `deepest`: as in suspend.c.
 */
#include <stddef.h>

#include "el1bench/cpu.h"
#include "el1bench/psci.h"
#include "el1bench/smp.h"
#include "psci_suite.h"
#include "stamps.h"
#include "suspend_case.h"

#define CYCLE_US 4000
#define READ_TIMEOUT_MS 1000

enum { OFF, ON, PARALLEL, DEEPEST, VARIANTS };

/* Rows of a core: the first ones are metrics of their own in either direction. */
enum { CALL_TO_OFF, ARRIVAL, OFF_ROWS };
enum { CALL_TO_ENTRY, CALL_TO_READY, ON_ROWS };

static struct power_core {
	struct sample_row *rows[2];
	struct sample_row *stamps[STAMP_METRICS];
} cores[VARIANTS][CPU_MAX]; /* by online position */

static struct suspend_case deepest;     /* of core 0 */
static struct smp_power leave[CPU_MAX]; /* by online position, the latest */
static struct stamps stamps;            /* of the core that has just come back */

static uint32_t row_count(uint32_t online)
{
	return online * (2 + STAMP_METRICS) + SUSPEND_ROWS;
}

static uint32_t sample_us(uint32_t online)
{
	return online * CYCLE_US;
}

static bool prepare(struct benchmark_run *run)
{
	uint32_t variant = run->benchmark->variant;

	if (!psci_available(run)) {
		return false;
	}
	if (smp_online_count() < 2) {
		return benchmark_skip(run, "it takes two cores", 0, 0, 0);
	}
	if (variant == DEEPEST) {
		if (!suspend_case_prepare(run, &deepest, IDLE_DEEPEST)) {
			return false;
		}
		if (deepest.order.by_interrupt) {
			return benchmark_skip(
				run, "nobody is there then to send core 0 an interrupt", 0, 0, 0);
		}
		if (!suspend_case_open(run, &deepest, 0, false)) {
			return false;
		}
	}
	for (uint32_t position = 1; position < smp_online_count(); position++) {
		struct power_core *core = &cores[variant][position];
		int32_t cpu = (int32_t)smp_online_cpu(position);

		if (variant == ON) {
			core->rows[CALL_TO_ENTRY] =
				benchmark_row(run, "call-to-entry", 0, cpu, NULL);
			core->rows[CALL_TO_READY] =
				benchmark_row(run, "call-to-ready", 0, cpu, NULL);
			continue;
		}
		core->rows[CALL_TO_OFF] = benchmark_row(run, "call-to-off", cpu, 0, NULL);
		if (variant == PARALLEL) {
			core->rows[ARRIVAL] = psci_place_row(run, cpu);
		}
		(void)stamps_open(run, core->stamps, cpu, true);
	}
	return run->reason == NULL;
}

TIMED_BETWEEN static void read_stamps(void *unused)
{
	(void)unused;
	stamps_read(&stamps);
}

/* Takes `count` cores down. False after benchmark_skip or benchmark_fail. */
TIMED_BETWEEN static bool go_off(struct benchmark_run *run, uint32_t first, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		leave[first + i].cpu = smp_online_cpu(first + i);
	}
	smp_power_off_together(&leave[first], count);
	for (uint32_t i = 0; i < count; i++) {
		const struct smp_power *off = &leave[first + i];

		if (off->done == SMP_POWER_REFUSED) {
			return benchmark_skip(run, "CPU_OFF of core %lu returned %s", off->cpu,
					      (uintptr_t)psci_result_name(off->result), 0);
		}
		if (off->done != SMP_POWER_DONE) {
			return benchmark_fail(run, "core %lu did not go off", off->cpu, 0, 0);
		}
		psci_called[first + i] = off->begin;
	}
	return true;
}

TIMED_BETWEEN static void record(uint32_t variant, uint32_t position, const struct smp_power *on)
{
	const struct power_core *core = &cores[variant][position];
	const struct smp_power *off = &leave[position];

	if (variant == ON) {
		sample_record(core->rows[CALL_TO_ENTRY], (int64_t)(on->entry - on->begin));
		sample_record(core->rows[CALL_TO_READY], (int64_t)(on->end - on->begin));
		return;
	}
	sample_record(core->rows[CALL_TO_OFF], (int64_t)(off->end - off->begin));
	if (variant == PARALLEL) {
		sample_record(core->rows[ARRIVAL], psci_place(position));
	}
	if (pmf_available() &&
	    smp_call(smp_online_cpu(position), read_stamps, NULL, READ_TIMEOUT_MS)) {
		(void)stamps_record(core->stamps, &stamps, off->begin, on->entry);
	}
}

/* Brings a core back. False after benchmark_fail. */
TIMED_BETWEEN static bool come_back(struct benchmark_run *run, uint32_t position)
{
	uint32_t cpu = smp_online_cpu(position);
	struct smp_power on;
	enum smp_power_result done = smp_power_on(cpu, &on);

	if (done == SMP_POWER_REFUSED) {
		return benchmark_fail(run, "CPU_ON of core %lu returned %s", cpu,
				      (uintptr_t)psci_result_name(on.result), 0);
	}
	if (done != SMP_POWER_DONE) {
		return benchmark_fail(run, "core %lu did not come back", cpu, 0, 0);
	}
	record(run->benchmark->variant, position, &on);
	return true;
}

/*
 * Nobody can wake core 0 while the others are off. So its timer has to have ended such a suspend
 * before, under a guard.
 */
TIMED_BETWEEN static bool try_deepest(struct benchmark_run *run)
{
	const struct sleeper *sleeper;

	if (deepest.tried) {
		return true;
	}
	deepest.order.unguarded = false;
	sleeper = sleep_alone(0, &deepest.order);
	if (!suspend_case_check(run, &deepest, 0, sleeper)) {
		return false;
	}
	if (!sleeper->outcome.at_entry) {
		return benchmark_skip(run, "power state 0x%lx comes back to its caller",
				      deepest.order.state, 0, 0);
	}
	deepest.order.unguarded = true;
	deepest.tried = true;
	return true;
}

TIMED_BETWEEN static bool sample_deepest(struct benchmark_run *run)
{
	if (!sleeper_is_free(0)) {
		return benchmark_fail(run, "core 0 gets no interrupts any more", 0, 0, 0);
	}
	suspend_case_draw(run, &deepest);
	if (!try_deepest(run)) {
		return false;
	}
	suspend_case_count(&deepest);
	for (uint32_t position = 1; position < smp_online_count(); position++) {
		if (!go_off(run, position, 1)) {
			return false;
		}
	}
	return suspend_case_record(run, &deepest, 0, sleep_alone(0, &deepest.order));
}

TIMED_BETWEEN static bool sample(struct benchmark_run *run)
{
	uint32_t variant = run->benchmark->variant;
	uint32_t online = smp_online_count();

	psci_called[0] = 0;
	if ((variant == PARALLEL && !go_off(run, 1, online - 1)) ||
	    (variant == DEEPEST && !sample_deepest(run))) {
		return false;
	}
	for (uint32_t position = 1; position < online; position++) {
		if ((variant <= ON && !go_off(run, position, 1)) || !come_back(run, position)) {
			return false;
		}
	}
	return true;
}

/* A core that is still off gets another chance. */
TIMED_BETWEEN static void finish(struct benchmark_run *run)
{
	for (uint32_t position = 1; position < smp_online_count(); position++) {
		(void)smp_power_restore(smp_online_cpu(position));
	}
	if (run->benchmark->variant == DEEPEST) {
		suspend_case_finish(run, &deepest);
	}
}

#define POWER_BENCHMARK(identifier, text, what, number, danger)                                    \
	static const struct benchmark identifier = {                                               \
		.name = text,                                                                      \
		.summary = what,                                                                   \
		.hazard = danger,                                                                  \
		.variant = number,                                                                 \
		.sample_count = psci_slow_samples,                                                 \
		.sample_us = sample_us,                                                            \
		.row_count = row_count,                                                            \
		.prepare = prepare,                                                                \
		.sample = sample,                                                                  \
		.finish = finish,                                                                  \
	};                                                                                         \
	BENCHMARK(identifier)

POWER_BENCHMARK(psci_cpu_off, "psci.cpu-off", "a core leaves through CPU_OFF", OFF, 1);
POWER_BENCHMARK(psci_cpu_on, "psci.cpu-on", "a core comes up through CPU_ON", ON, 1);
POWER_BENCHMARK(psci_cpu_off_parallel, "psci.cpu-off.parallel",
		"all other cores leave through CPU_OFF at once", PARALLEL, 1);
POWER_BENCHMARK(psci_cpu_off_deepest, "psci.cpu-off.deepest",
		"the deepest power-down of core 0 while all others are off", DEEPEST,
		3 + IDLE_DEEPEST);

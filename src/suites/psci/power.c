/*
 * psci.cpu-off, psci.cpu-on: each other core in turn leaves through CPU_OFF and comes back through
 * CPU_ON. Both benchmarks go the whole way; each keeps its own half.
 *
 * Metric `call-to-off`: the core before CPU_OFF -> AFFINITY_INFO tells core 0 that it is off.
 * Metrics `call-to-entry`, `call-to-ready`: core 0 before CPU_ON -> the core's first instruction ->
 * the core in C at EL1 with its MMU on.
 */
#include <stddef.h>

#include "el1bench/cpu.h"
#include "el1bench/psci.h"
#include "el1bench/smp.h"
#include "psci_suite.h"
#include "stamps.h"

#define CYCLE_US 4000
#define READ_TIMEOUT_MS 1000

enum { OFF, ON };
enum { ENTRY, READY, METRICS };

static struct sample_row *off_rows[CPU_MAX];
static struct sample_row *stamp_rows[CPU_MAX][STAMP_METRICS];
static struct stamps stamps; /* of the core that has just come back */
static struct sample_row *on_rows[CPU_MAX][METRICS];

static uint32_t row_count(uint32_t online)
{
	return (online - 1) * (1 + STAMP_METRICS);
}

static uint32_t sample_us(uint32_t online)
{
	return online * CYCLE_US;
}

static bool prepare(struct benchmark_run *run)
{
	if (!psci_available(run)) {
		return false;
	}
	if (smp_online_count() < 2) {
		return benchmark_skip(run, "it takes two cores", 0, 0, 0);
	}
	for (uint32_t position = 1; position < smp_online_count(); position++) {
		int32_t cpu = (int32_t)smp_online_cpu(position);

		if (run->benchmark->variant == OFF) {
			off_rows[position] = benchmark_row(run, "call-to-off", cpu, 0, NULL);
			(void)stamps_open(run, stamp_rows[position], cpu, true);
		} else {
			on_rows[position][ENTRY] =
				benchmark_row(run, "call-to-entry", 0, cpu, NULL);
			on_rows[position][READY] =
				benchmark_row(run, "call-to-ready", 0, cpu, NULL);
		}
	}
	return run->reason == NULL;
}

TIMED static void read_stamps(void *unused)
{
	(void)unused;
	stamps_read(&stamps);
}

TIMED static bool sample(struct benchmark_run *run)
{
	for (uint32_t position = 1; position < smp_online_count(); position++) {
		uint32_t cpu = smp_online_cpu(position);
		enum smp_power_result done;
		struct smp_power off;
		struct smp_power on;

		done = smp_power_off(cpu, &off);
		if (done == SMP_POWER_REFUSED) {
			return benchmark_skip(run, "CPU_OFF of core %lu returned %s", cpu,
					      (uintptr_t)psci_result_name(off.result), 0);
		}
		if (done != SMP_POWER_DONE) {
			return benchmark_fail(run, "core %lu did not go off", cpu, 0, 0);
		}
		done = smp_power_on(cpu, &on);
		if (done == SMP_POWER_REFUSED) {
			return benchmark_fail(run, "CPU_ON of core %lu returned %s", cpu,
					      (uintptr_t)psci_result_name(on.result), 0);
		}
		if (done != SMP_POWER_DONE) {
			return benchmark_fail(run, "core %lu did not come back", cpu, 0, 0);
		}
		if (run->benchmark->variant == OFF) {
			sample_record(off_rows[position], (int64_t)(off.end - off.begin));
			if (pmf_available() && smp_call(cpu, read_stamps, NULL, READ_TIMEOUT_MS)) {
				stamps_record(stamp_rows[position], &stamps, off.begin, on.entry);
			}
		} else {
			sample_record(on_rows[position][ENTRY], (int64_t)(on.entry - on.begin));
			sample_record(on_rows[position][READY], (int64_t)(on.end - on.begin));
		}
	}
	return true;
}

/* A core that is still off gets another chance. */
TIMED static void finish(struct benchmark_run *run)
{
	(void)run;
	for (uint32_t position = 1; position < smp_online_count(); position++) {
		(void)smp_power_restore(smp_online_cpu(position));
	}
}

static const struct benchmark psci_cpu_off = {
	.name = "psci.cpu-off",
	.summary = "a core leaves through CPU_OFF",
	.hazard = 1,
	.variant = OFF,
	.sample_count = psci_slow_samples,
	.sample_us = sample_us,
	.row_count = row_count,
	.prepare = prepare,
	.sample = sample,
	.finish = finish,
};

static const struct benchmark psci_cpu_on = {
	.name = "psci.cpu-on",
	.summary = "a core comes up through CPU_ON",
	.hazard = 1,
	.variant = ON,
	.sample_count = psci_slow_samples,
	.sample_us = sample_us,
	.row_count = row_count,
	.prepare = prepare,
	.sample = sample,
	.finish = finish,
};

BENCHMARK(psci_cpu_off);
BENCHMARK(psci_cpu_on);

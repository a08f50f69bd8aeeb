/*
 * clock.cycles: the core's cycle counter beside the physical counter, over the same interval: how
 * many cycles a tick has, and whether the cycle counter notices that the core sleeps.
 *
 * Metrics `busy` (cycles) and `busy-ticks`: around a loop that computes, on each core that has a
 * usable cycle counter. Metrics `wfi` and `wfi-ticks`: around a sleep in WFI, core 0.
 */
#include <stddef.h>

#include "el1bench/benchmark.h"
#include "el1bench/cpu.h"
#include "el1bench/cycles.h"
#include "el1bench/smp.h"
#include "el1bench/wait.h"

#define CALL_TIMEOUT_MS 1000
#define BUSY_TURNS 32768
#define SLEEPS_A_SECOND 1000 /* a sleep lasts a millisecond */
#define SAMPLES_MAX 32       /* a ratio takes no more */

enum { WFI_CYCLES, WFI_TICKS };

struct interval {
	struct sample_row *cycles; /* NULL: not measured on this core */
	struct sample_row *ticks;
};

static struct interval busy_intervals[CPU_MAX]; /* by position */

/* On the core that is measured. The cycles' interval encloses the ticks'. */
TIMED static void measure_busy(void *argument)
{
	const struct interval *interval = argument;
	uint64_t begin_cycles;
	uint64_t end_cycles;
	uint64_t begin;
	uint64_t end;

	cycles_enable();
	begin_cycles = cycles_read();
	begin = counter_begin();
	for (uint32_t turns = BUSY_TURNS; turns != 0; turns--) {
		__asm__ volatile("" : : : "memory");
	}
	end = counter_end();
	end_cycles = cycles_read();
	sample_record(interval->cycles, (int64_t)(end_cycles - begin_cycles));
	sample_record(interval->ticks, (int64_t)(end - begin));
}

TIMED static void measure_sleep(const struct benchmark_run *run)
{
	uint64_t duration = counter_hz() / SLEEPS_A_SECOND;
	uint64_t begin_cycles;
	uint64_t end_cycles;
	uint64_t begin;
	uint64_t end;

	cycles_enable();
	begin_cycles = cycles_read();
	begin = counter_begin();
	wait_until(begin + duration);
	end = counter_end();
	end_cycles = cycles_read();
	sample_record(run->rows[WFI_CYCLES], (int64_t)(end_cycles - begin_cycles));
	sample_record(run->rows[WFI_TICKS], (int64_t)(end - begin));
}

TIMED static void ask_usable(void *usable)
{
	*(bool *)usable = cycles_usable();
}

static uint32_t fewer_samples(uint32_t asked)
{
	return asked < SAMPLES_MAX ? asked : SAMPLES_MAX;
}

static uint32_t row_count(uint32_t online)
{
	return 2 * online + 2;
}

static struct sample_row *cycles_row(struct benchmark_run *run, const char *metric, int32_t cpu)
{
	struct sample_row *row = benchmark_row(run, metric, cpu, SAMPLE_NO_CPU, NULL);

	if (row != NULL) {
		row->unit = SAMPLE_UNIT_CYCLE;
	}
	return row;
}

UNTIMED static bool prepare(struct benchmark_run *run)
{
	bool any = false;

	for (uint32_t position = 0; position < smp_online_count(); position++) {
		struct interval *interval = &busy_intervals[position];
		int32_t cpu = (int32_t)smp_online_cpu(position);
		bool usable = false;

		*interval = (struct interval){0};
		if (!smp_call((uint32_t)cpu, ask_usable, &usable, CALL_TIMEOUT_MS)) {
			return benchmark_fail(run, "core %lu did not look for a PMU", (uint64_t)cpu,
					      0, 0);
		}
		if (!usable) {
			continue;
		}
		any = true;
		interval->cycles = cycles_row(run, "busy", cpu);
		interval->ticks = benchmark_row(run, "busy-ticks", cpu, SAMPLE_NO_CPU, NULL);
		if (interval->cycles == NULL || interval->ticks == NULL) {
			return false;
		}
	}
	if (!any) {
		return benchmark_skip(run, "no core has a cycle counter that counts", 0, 0, 0);
	}
	if (busy_intervals[0].cycles != NULL && wait_sleeps() && counter_hz() != 0) {
		run->rows[WFI_CYCLES] = cycles_row(run, "wfi", 0);
		run->rows[WFI_TICKS] = benchmark_row(run, "wfi-ticks", 0, SAMPLE_NO_CPU, NULL);
		return run->rows[WFI_CYCLES] != NULL && run->rows[WFI_TICKS] != NULL;
	}
	return true;
}

TIMED static bool sample(struct benchmark_run *run)
{
	for (uint32_t position = 0; position < smp_online_count(); position++) {
		struct interval *interval = &busy_intervals[position];
		uint32_t cpu = smp_online_cpu(position);

		if (interval->cycles != NULL &&
		    !smp_call(cpu, measure_busy, interval, CALL_TIMEOUT_MS)) {
			return benchmark_fail(run, "core %lu did not finish its loop", cpu, 0, 0);
		}
	}
	if (run->rows[WFI_CYCLES] != NULL) {
		measure_sleep(run);
	}
	return true;
}

static const struct benchmark clock_cycles = {
	.name = "clock.cycles",
	.summary = "the core's cycle counter beside the physical one",
	.sample_count = fewer_samples,
	.row_count = row_count,
	.prepare = prepare,
	.sample = sample,
};

BENCHMARK(clock_cycles);

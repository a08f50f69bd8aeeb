/*
 * clock.floor: two counter reads back to back, on each core: what an empty interval costs. Reported
 * beside everything, subtracted from nothing.
 *
 * Metric `pair`: counter_end - counter_begin, both on the row's core.
 */
#include <stddef.h>

#include "el1bench/benchmark.h"
#include "el1bench/counter.h"
#include "el1bench/cpu.h"
#include "el1bench/smp.h"

#define CALL_TIMEOUT_MS 1000

static struct sample_row *rows[CPU_MAX];

TIMED static void read_pair(void *row)
{
	uint64_t begin = counter_begin();
	uint64_t end = counter_end();

	sample_record(row, (int64_t)(end - begin));
}

static uint32_t row_count(uint32_t online)
{
	return online;
}

static bool prepare(struct benchmark_run *run)
{
	for (uint32_t position = 0; position < smp_online_count(); position++) {
		int32_t cpu = (int32_t)smp_online_cpu(position);

		rows[position] = benchmark_row(run, "pair", cpu, SAMPLE_NO_CPU, NULL);
		if (rows[position] == NULL) {
			return false;
		}
	}
	return true;
}

TIMED static bool sample(struct benchmark_run *run)
{
	for (uint32_t position = 0; position < smp_online_count(); position++) {
		uint32_t cpu = smp_online_cpu(position);

		if (!smp_call(cpu, read_pair, rows[position], CALL_TIMEOUT_MS)) {
			return benchmark_fail(run, "core %lu did not finish its reads", cpu, 0, 0);
		}
	}
	return true;
}

static const struct benchmark clock_floor = {
	.name = "clock.floor",
	.summary = "two counter reads back to back, on each core",
	.row_count = row_count,
	.prepare = prepare,
	.sample = sample,
};

BENCHMARK(clock_floor);

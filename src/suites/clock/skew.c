/*
 * clock.skew: how far another core's counter can be from core 0's. Core 0 reads before and after
 * the other core's reading; on one consistent counter the skew is at most the larger distance, so
 * the smallest sample of a row is the tightest bound.
 *
 * Metric `bound`: max(there - before, after - there), cpu 0, peer the other core.
 */
#include <stddef.h>

#include "el1bench/benchmark.h"
#include "el1bench/cpu.h"
#include "el1bench/ping_pong.h"
#include "el1bench/smp.h"

static struct sample_row *rows[CPU_MAX];

static uint32_t row_count(uint32_t online)
{
	return online - 1;
}

UNTIMED static bool prepare(struct benchmark_run *run)
{
	if (smp_online_count() < 2) {
		return benchmark_skip(run, "it takes two cores", 0, 0, 0);
	}
	for (uint32_t position = 1; position < smp_online_count(); position++) {
		int32_t cpu = (int32_t)smp_online_cpu(position);

		rows[position] = benchmark_row(run, "bound", 0, cpu, NULL);
		if (rows[position] == NULL) {
			return false;
		}
	}
	return true;
}

TIMED static bool sample(struct benchmark_run *run)
{
	for (uint32_t position = 1; position < smp_online_count(); position++) {
		uint32_t cpu = smp_online_cpu(position);
		struct ping_pong_reading reading;
		int64_t there;
		int64_t back;

		if (!ping_pong_start(cpu) || !ping_pong_read(&reading)) {
			return benchmark_fail(run, "core %lu does not answer", cpu, 0, 0);
		}
		if (!ping_pong_stop()) {
			return benchmark_fail(run, "core %lu does not stop answering", cpu, 0, 0);
		}
		there = (int64_t)(reading.there - reading.before);
		back = (int64_t)(reading.after - reading.there);
		if (there < 0 || back < 0) {
			sample_exclude(rows[position], SAMPLE_BACKWARDS);
		} else {
			sample_record(rows[position], there > back ? there : back);
		}
	}
	return true;
}

TIMED static void finish(struct benchmark_run *run)
{
	(void)run;
	(void)ping_pong_stop();
}

static const struct benchmark clock_skew = {
	.name = "clock.skew",
	.summary = "bound of the distance between core 0's counter and another core's",
	.row_count = row_count,
	.prepare = prepare,
	.sample = sample,
	.finish = finish,
};

BENCHMARK(clock_skew);

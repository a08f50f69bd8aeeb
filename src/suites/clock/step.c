/*
 * clock.step: how far the counter moves when it moves. The smallest sample and the common divisor
 * of all are the counter's real step: resolution is this, not 1 / CNTFRQ.
 *
 * Metric `ticks`: the first different reading minus the one before it, core 0. The reads are spaced
 * by a random number of instructions, else a counter finer than the loop would show the loop.
 */
#include <stddef.h>

#include "el1bench/benchmark.h"
#include "el1bench/counter.h"

#define SPACING 16    /* spins of spacing at most */
#define READS 1000000 /* a counter that stands still this long is broken */

static uint32_t row_count(uint32_t online)
{
	(void)online;
	return 1;
}

static bool prepare(struct benchmark_run *run)
{
	run->rows[0] = benchmark_row(run, "ticks", 0, SAMPLE_NO_CPU, NULL);
	return run->rows[0] != NULL;
}

TIMED static bool sample(struct benchmark_run *run)
{
	uint32_t spins = random_below(run->random, SPACING);
	uint64_t first = counter_begin();

	while (spins-- != 0) {
		__asm__ volatile("" : : : "memory");
	}
	for (uint32_t reads = 0; reads < READS; reads++) {
		uint64_t next = counter_end();

		if (next != first) {
			sample_record(run->rows[0], (int64_t)(next - first));
			return true;
		}
	}
	return benchmark_fail(run, "the counter stands still at %lu", first, 0, 0);
}

static const struct benchmark clock_step = {
	.name = "clock.step",
	.summary = "how far the counter moves when it moves",
	.row_count = row_count,
	.prepare = prepare,
	.sample = sample,
};

BENCHMARK(clock_step);

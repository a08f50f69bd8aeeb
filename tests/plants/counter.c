/*
 * plant.counter: a planted fault, a counter read that nothing orders. The audit must find it.
 */
#include "el1bench/benchmark.h"

TIMED static bool sample(struct benchmark_run *run)
{
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntpct_el0" : "=r"(ticks));
	return ticks != run->index;
}

static const struct benchmark plant_counter = {
	.name = "plant.counter",
	.summary = "reads the counter without an ISB",
	.sample = sample,
};

BENCHMARK(plant_counter);

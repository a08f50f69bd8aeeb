/*
 * plant.frame: a planted fault, a frame larger than a timed function may have. The audit must find
 * it.
 */
#include "el1bench/benchmark.h"

TIMED static bool sample(struct benchmark_run *run)
{
	volatile uint8_t bytes[12288];

	bytes[run->index % sizeof(bytes)] = 1;
	return bytes[run->index % sizeof(bytes)] == 1;
}

static const struct benchmark plant_frame = {
	.name = "plant.frame",
	.summary = "takes 12,288 bytes of stack",
	.sample = sample,
};

BENCHMARK(plant_frame);

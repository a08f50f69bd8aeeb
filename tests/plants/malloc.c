/*
 * plant.malloc: a planted fault, memory from malloc while timing. The audit must find it.
 */
#include <stdlib.h>

#include "el1bench/benchmark.h"

TIMED static bool sample(struct benchmark_run *run)
{
	void *volatile memory = malloc(run->samples);

	free(memory);
	return memory != NULL;
}

static const struct benchmark plant_malloc = {
	.name = "plant.malloc",
	.summary = "allocates while timing",
	.sample = sample,
};

BENCHMARK(plant_malloc);

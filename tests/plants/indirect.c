/*
 * plant.indirect: a planted fault, a call through a pointer that nobody has declared. The audit
 * must find it.
 */
#include <stddef.h>

#include "el1bench/benchmark.h"

static bool (*volatile pointer)(void);

TIMED static bool sample(struct benchmark_run *run)
{
	return pointer == NULL || pointer() || run->index != 0;
}

static const struct benchmark plant_indirect = {
	.name = "plant.indirect",
	.summary = "calls through a pointer",
	.sample = sample,
};

BENCHMARK(plant_indirect);

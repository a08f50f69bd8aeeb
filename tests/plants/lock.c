/*
 * plant.lock: a planted fault, a lock besides the measured one. The audit must find it.
 */
#include "el1bench/benchmark.h"

static bool taken;

TIMED static bool sample(struct benchmark_run *run)
{
	(void)run;
	while (__atomic_test_and_set(&taken, __ATOMIC_ACQUIRE)) {
	}
	__atomic_clear(&taken, __ATOMIC_RELEASE);
	return true;
}

static const struct benchmark plant_lock = {
	.name = "plant.lock",
	.summary = "takes a lock",
	.sample = sample,
};

BENCHMARK(plant_lock);

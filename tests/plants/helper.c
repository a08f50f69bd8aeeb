/*
 * plant.helper: a planted fault, a print behind two calls of which the last is a tail call. The
 * audit must find it, with the way there.
 */
#include "el1bench/benchmark.h"
#include "el1bench/console.h"

static const char text[] = "planted\n";

static __attribute__((noinline)) void print(uint64_t bytes)
{
	console_write(text, bytes);
}

static __attribute__((noinline)) uint64_t describe(uint64_t bytes)
{
	print(bytes % sizeof(text));
	return bytes + 1;
}

TIMED static bool sample(struct benchmark_run *run)
{
	return describe(run->index) != 0;
}

static const struct benchmark plant_helper = {
	.name = "plant.helper",
	.summary = "prints, at second hand",
	.sample = sample,
};

BENCHMARK(plant_helper);

/*
 * Working through many places (pairs of cores, counts of targets) in sweeps: each takes a few
 * samples at every place, there and back again, so that a drift over time weighs on all alike; and
 * ends where the budget of time is used up. Core 0.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "el1bench/benchmark.h"

#define SWEEP_SAMPLES 8 /* at a place, in one sweep */

struct sweep {
	uint32_t places;
	/* Takes `count` samples, 1 to SWEEP_SAMPLES, at a place. False after benchmark_fail. */
	bool (*visit)(struct benchmark_run *run, uint32_t place, uint32_t count);
	bool reversed;
	bool started;
	bool over;
	uint64_t begin; /* ticks */
};

/* The whole of a benchmark's `sample`. Timed code. */
bool sweep_sample(struct benchmark_run *run, struct sweep *sweep);

/*
 * For its `finish`: notes if the budget has left rows short; `rows` of them follow the run's first
 * one. Timed code.
 */
void sweep_note(struct benchmark_run *run, const struct sweep *sweep, uint32_t rows);

/* For its `bound_ms`. */
uint64_t sweep_bound_ms(const struct benchmark_run *run, const struct sweep *sweep);

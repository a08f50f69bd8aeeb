/*
 * Integer statistics on the target. Quantiles are order statistics: the sample at 0-based rank
 * floor(q * (n - 1) + 1/2) of the sorted good samples. No hardware access; runs on a host too.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct statistics {
	uint32_t n;  /* good samples */
	int64_t min; /* ticks, like all below */
	int64_t max;
	int64_t mean_1024; /* mean in 1/1024 tick, rounded to nearest */
	int64_t p50;
	int64_t p90;
	int64_t p99;  /* only if n >= 300 */
	int64_t p999; /* only if n >= 3000 */
	bool has_p99;
	bool has_p999;
};

#define STATISTICS_P99_MIN 300
#define STATISTICS_P999_MIN 3000

/* Sorts `values` (n of them, in place, no recursion) and fills `statistics`; n may be 0. */
void statistics_compute(int64_t *values, uint32_t n, struct statistics *statistics);

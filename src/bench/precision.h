/*
 * How sure the headline of a row is, in integers: the 95 % confidence interval of the figure that a
 * report will quote (docs/results-format.md). No hardware access; runs on a host too.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A half-width below this share of a counter step is as good as any. */
#define PRECISION_STEP_SHARE 32

/*
 * True if the interval's half-width is at most `ppm` millionths of the headline, or at most a step
 * / PRECISION_STEP_SHARE. `sorted` holds n good samples (below 2^20), ascending, from 0 to
 * 2^62; `step` is the counter's in ticks, at least 1; `ppm` at most 500000. False for n < 6.
 */
bool precision_reached(const int64_t *sorted, uint32_t n, uint32_t step, uint32_t ppm);

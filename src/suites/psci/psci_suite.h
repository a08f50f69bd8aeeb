/*
 * What the PSCI benchmarks share.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "el1bench/benchmark.h"

/* Checks that firmware answers; false after benchmark_skip. */
bool psci_available(struct benchmark_run *run);

/*
 * Samples of what takes a millisecond each: fifty, unless `samples=` says otherwise.
 */
uint32_t psci_slow_samples(uint32_t asked);

/* Of a sweep, which is to meet each moment of a way: two hundred. */
uint32_t psci_sweep_samples(uint32_t asked);

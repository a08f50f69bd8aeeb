/*
 * What the PSCI benchmarks share.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "el1bench/benchmark.h"
#include "el1bench/cpu.h"

/* Checks that firmware answers; false after benchmark_skip. */
bool psci_available(struct benchmark_run *run);

/*
 * Samples of what takes a millisecond each: fifty, unless `samples=` says otherwise.
 */
uint32_t psci_slow_samples(uint32_t asked);

/* Of a sweep, which is to meet each moment of a way: two hundred. */
uint32_t psci_sweep_samples(uint32_t asked);

/* Opens the row of a core for its places; NULL after benchmark_fail. */
struct sample_row *psci_place_row(struct benchmark_run *run, int32_t cpu);

/* By online position: when each core called in the latest sample, ticks; 0: it took no part. */
extern uint64_t psci_called[CPU_MAX];

/*
 * How many cores of the same cluster have called before the one at a position: 0 is the first. If
 * none called later it is the last one, also where it shares a tick with others. Timed code.
 */
uint32_t psci_place(uint32_t position);

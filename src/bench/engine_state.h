/*
 * What the engine's parts share: planning fills it in, running works through it. Core 0.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "el1bench/benchmark.h"
#include "el1bench/engine.h"

/* Benchmarks that are sampled alternately: runs[first .. first + count - 1]. */
struct engine_unit {
	uint32_t first;
	uint32_t count;
	uint32_t watchdog_ms; /* that the watchdog is to wait for it */
};

struct engine {
	struct benchmark_run runs[BENCHMARK_MAX]; /* selected ones first, unit by unit */
	uint32_t run_count;
	struct engine_unit units[BENCHMARK_MAX]; /* in the order of this boot */
	uint32_t unit_count;
	struct random_state random; /* of this boot */
	const struct arguments *arguments;
	uint32_t warmup;
	uint32_t samples;      /* asked for each row; with samples=auto, the cap */
	uint32_t ci_ppm;       /* that samples=auto wants to reach; 0: a fixed number of samples */
	uint32_t batch;        /* operations in a sample of batched benchmarks; 0: from a pilot */
	uint32_t counter_step; /* ticks */
	uint32_t spin_range;   /* gaps between samples are drawn from [0, spin_range) */
	uint32_t stack_offset;
	uint32_t buffer_offset;
	uint64_t bound_ms;
	uint64_t spare_bytes; /* of the arena, beyond samples and report */
	struct engine_checks checks;
	struct benchmark_run *volatile current;
};

extern struct engine engine;

/* True if every row of the unit's live members is as precise as `ci_ppm` says. */
bool engine_unit_is_precise(const struct engine_unit *unit);

/* Notes of which members that passed the cap on samples came first. */
void engine_note_imprecise(const struct engine_unit *unit);

/* True for a benchmark without rows: it is called once, without warm-up. */
static inline bool engine_is_check(const struct benchmark *benchmark)
{
	return benchmark->row_count == NULL;
}

/*
 * spawn.process.untracked: a process from the request to its first instruction at EL0, and back to
 * nothing. The base line of the other spawn.process benchmarks.
 *
 * Metrics: see docs/metrics.md; the steps up to `first-instruction` add up to `total`.
 */
#include "spawn.h"

TIMED static bool make(struct spawn *spawn)
{
	return spawn_make(spawn, TRACKING_NONE, true);
}

const struct spawn_method spawn_untracked = {
	.make = make,
	.unmake = spawn_destroy,
	.stamped = true,
};

static struct spawn_case mine = {.method = &spawn_untracked};

static const struct benchmark spawn_process_untracked = {
	.name = SPAWN_CONTROL,
	.summary = "a process at EL0, nothing recorded",
	.group = SPAWN_GROUP,
	.sample_count = spawn_case_sample_count,
	.sample_us = spawn_case_sample_us,
	.row_count = spawn_case_row_count,
	.data = &mine,
	.prepare = spawn_case_prepare,
	.sample = spawn_case_sample,
	.finish = spawn_case_finish,
};

BENCHMARK(spawn_process_untracked);

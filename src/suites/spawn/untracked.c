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

TIMED static void unmake(struct spawn *spawn)
{
	process_destroy(spawn->process);
}

const struct spawn_method spawn_untracked = {
	.make = make,
	.unmake = unmake,
	.stamped = true,
};

static struct spawn_case mine = {.method = &spawn_untracked};

static bool prepare(struct benchmark_run *run)
{
	return spawn_case_prepare(run, &mine);
}

TIMED static bool sample(struct benchmark_run *run)
{
	return spawn_case_sample(run, &mine);
}

TIMED static void finish(struct benchmark_run *run)
{
	spawn_case_finish(run, &mine);
}

static const struct benchmark spawn_process_untracked = {
	.name = SPAWN_CONTROL,
	.summary = "a process at EL0, nothing recorded",
	.group = SPAWN_GROUP,
	.sample_count = spawn_case_sample_count,
	.sample_us = spawn_case_sample_us,
	.row_count = spawn_case_row_count,
	.prepare = prepare,
	.sample = sample,
	.finish = finish,
};

BENCHMARK(spawn_process_untracked);

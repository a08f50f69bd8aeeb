/*
 * spawn.process.unstamped: as spawn.process.untracked, without the stamps between its steps. `net`
 * is what they cost, negative.
 */
#include "spawn.h"

TIMED static bool make(struct spawn *spawn)
{
	return spawn_make(spawn, TRACKING_NONE, false);
}

TIMED static void unmake(struct spawn *spawn)
{
	process_destroy(spawn->process);
}

static const struct spawn_method spawn_unstamped = {
	.make = make,
	.unmake = unmake,
	.stamped = false,
};

static struct spawn_case mine = {.method = &spawn_unstamped};

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

static const struct benchmark spawn_process_unstamped = {
	.name = "spawn.process.unstamped",
	.summary = "a process at EL0, without the inner stamps",
	.group = SPAWN_GROUP,
	.control = SPAWN_CONTROL,
	.sample_count = spawn_case_sample_count,
	.sample_us = spawn_case_sample_us,
	.row_count = spawn_case_row_count,
	.prepare = prepare,
	.sample = sample,
	.finish = finish,
};

BENCHMARK(spawn_process_unstamped);

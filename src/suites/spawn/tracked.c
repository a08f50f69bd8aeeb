/*
 * spawn.process.tracked: as spawn.process.untracked, with every resource operation recorded in the
 * model, in the kernel.
 */
#include "spawn.h"

TIMED static bool make(struct spawn *spawn)
{
	return spawn_make(spawn, TRACKING_MODEL, true);
}

TIMED static void unmake(struct spawn *spawn)
{
	spawn_untrack(spawn, TRACKING_MODEL);
	process_destroy(spawn->process);
}

const struct spawn_method spawn_tracked = {
	.make = make,
	.unmake = unmake,
	.tracker = &tracker_model,
	.stamped = true,
};

static struct spawn_case mine = {.method = &spawn_tracked};

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

static const struct benchmark spawn_process_tracked = {
	.name = "spawn.process.tracked",
	.summary = "a process at EL0, recorded in the kernel's model",
	.group = SPAWN_GROUP,
	.control = SPAWN_CONTROL,
	.sample_count = spawn_case_sample_count,
	.sample_us = spawn_case_sample_us,
	.row_count = spawn_case_row_count,
	.prepare = prepare,
	.sample = sample,
	.finish = finish,
};

BENCHMARK(spawn_process_tracked);

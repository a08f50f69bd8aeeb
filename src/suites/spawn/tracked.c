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

static const struct benchmark spawn_process_tracked = {
	.name = "spawn.process.tracked",
	.summary = "a process at EL0, recorded in the kernel's model",
	.group = SPAWN_GROUP,
	.control = SPAWN_CONTROL,
	.sample_count = spawn_case_sample_count,
	.sample_us = spawn_case_sample_us,
	.row_count = spawn_case_row_count,
	.data = &mine,
	.prepare = spawn_case_prepare,
	.sample = spawn_case_sample,
	.finish = spawn_case_finish,
};

BENCHMARK(spawn_process_tracked);

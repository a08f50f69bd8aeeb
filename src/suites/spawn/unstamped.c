/*
 * spawn.process.unstamped: as spawn.process.untracked, without the stamps between its steps. `net`
 * is what they cost, negative.
 */
#include "spawn.h"

TIMED static bool make(struct spawn *spawn)
{
	return spawn_make(spawn, TRACKING_NONE, false);
}

static const struct spawn_method spawn_unstamped = {
	.make = make,
	.unmake = spawn_destroy,
	.stamped = false,
};

static struct spawn_case mine = {.method = &spawn_unstamped};

static const struct benchmark spawn_process_unstamped = {
	.name = "spawn.process.unstamped",
	.summary = "a process at EL0, without the inner stamps",
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

BENCHMARK(spawn_process_unstamped);

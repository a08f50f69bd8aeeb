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

SPAWN_BENCHMARK(spawn_process_tracked, "spawn.process.tracked",
		"a process at EL0, recorded in the kernel's model", &spawn_tracked);

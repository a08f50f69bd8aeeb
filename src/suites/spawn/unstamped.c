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

SPAWN_BENCHMARK(spawn_process_unstamped, "spawn.process.unstamped",
		"a process at EL0, without the inner stamps", &spawn_unstamped);

/*
 * spawn.process.tracked-server: as spawn.process.untracked, with every resource operation told to
 * the tracker, a process at EL0 that keeps the model: a message each, and a reply.
 */
#include "spawn.h"

extern const char tracker_program[], tracker_program_end[];

static struct process *server; /* waits for a message; NULL: none */
static struct spawn starting;

struct spawn_tracker tracker_server;

TIMED uint64_t tracking_request_server(uint64_t operation, uint64_t a, uint64_t b, uint64_t c,
				       uint64_t d)
{
	uint64_t *x = server->thread->context.x;

	x[0] = operation;
	x[1] = a;
	x[2] = b;
	x[3] = c;
	x[4] = d;
	address_space_switch(&server->space);
	return process_run(server) == PROCESS_RECEIVES ? x[0] : 0;
}

TIMED static bool make(struct spawn *spawn)
{
	return spawn_make(spawn, TRACKING_SERVER, true);
}

TIMED static void unmake(struct spawn *spawn)
{
	spawn_untrack(spawn, TRACKING_SERVER);
	process_destroy(spawn->process);
}

static const struct spawn_method spawn_tracked_server = {
	.make = make,
	.unmake = unmake,
	.tracker = &tracker_server,
	.stamped = true,
};

/* The tracker is up once it asks for its first message. */
static bool start_server(void)
{
	bool good;

	starting.file = tracker_program;
	starting.file_bytes = (uint64_t)(tracker_program_end - tracker_program);
	process_watch(SPAWN_LIMIT_MS);
	good = spawn_untracked.make(&starting) && spawn_start(&starting) &&
	       process_run(starting.process) == PROCESS_RECEIVES;
	server = starting.process;
	good = good && tracking_start(&tracker_server, tracking_request_server);
	process_unwatch();
	address_space_switch(NULL);
	return good;
}

UNTIMED static bool prepare(struct benchmark_run *run)
{
	if (!spawn_available(run)) {
		return false;
	}
	if (!start_server()) {
		return spawn_failed(run, &starting);
	}
	return spawn_case_prepare(run);
}

TIMED static void finish(struct benchmark_run *run)
{
	process_watch(SPAWN_LIMIT_MS);
	spawn_case_finish(run);
	process_unwatch();
	address_space_switch(NULL);
}

SPAWN_BENCHMARK_WITH(spawn_process_tracked_server, "spawn.process.tracked-server",
		     "a process at EL0, recorded by a process at EL0", &spawn_tracked_server,
		     prepare, finish);

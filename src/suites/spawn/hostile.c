/*
 * spawn.hostile: programs at EL0 that do what they must not are killed for just that, the kernel is
 * none the worse, and all that they had comes back. A check.
 */
#include "spawn.h"

#define SPIN_MS 20
#define STACK_BOTTOM (PROCESS_STACK_TOP - PAGE_BYTES)
#define ARGUMENTS (PROCESS_STACK_TOP - PROCESS_ARGUMENTS_MAX * sizeof(uint64_t))
#define FAR_ANY UINT64_MAX

static const struct {
	enum program_task task;
	enum process_death death;
	uint64_t argument;
	uint64_t address; /* the fault's */
} deeds[] = {
	{TASK_READ, DEATH_DATA_ABORT, IMAGE_VA, IMAGE_VA},
	{TASK_READ, DEATH_DATA_ABORT, 8, 8},
	{TASK_JUMP, DEATH_INSTRUCTION_ABORT, 0, ARGUMENTS},
	{TASK_OVERFLOW, DEATH_DATA_ABORT, 0, FAR_ANY},
	{TASK_SPIN, DEATH_TIME, 0, FAR_ANY},
	{TASK_UNKNOWN_CALL, DEATH_SYSTEM_CALL, 0, FAR_ANY},
};

#define DEEDS (sizeof(deeds) / sizeof(deeds[0]))

static bool prepare(struct benchmark_run *run)
{
	return spawn_available(run);
}

/* Lets it do its deed; false after benchmark_fail if it got away with it. */
TIMED static bool try_deed(struct benchmark_run *run, uint32_t index, struct spawn *spawn)
{
	const struct process *process;

	spawn_set_up(spawn, deeds[index].task, deeds[index].argument);
	process_watch(SPAWN_LIMIT_MS);
	if (!spawn_tracked.make(spawn) || !spawn_start(spawn)) {
		return spawn_failed(run, spawn);
	}
	if (deeds[index].death == DEATH_TIME) {
		process_watch(SPIN_MS);
	}
	(void)spawn_finish(spawn);
	process = spawn->process;
	if (spawn->event != PROCESS_KILLED || process->death != deeds[index].death ||
	    (deeds[index].address != FAR_ANY &&
	     process->killed_numbers[1] != deeds[index].address)) {
		return benchmark_fail(run, "deed %lu: not killed for what it did (%lu)", index,
				      process->death, 0);
	}
	benchmark_note(run, process->killed_because, process->killed_numbers[0],
		       process->killed_numbers[1], process->killed_numbers[2]);
	return true;
}

TIMED static bool sample(struct benchmark_run *run)
{
	struct spawn_counts before;
	static struct spawn spawn;
	bool good = true;

	spawn_count(&before, &tracker_model);
	for (uint32_t i = 0; i < DEEDS && good; i++) {
		good = try_deed(run, i, &spawn);
		process_unwatch();
		spawn_unmake(&spawn_tracked, &spawn);
	}
	return good && spawn_check_counts(run, &before, &tracker_model, DEEDS);
}

static const struct benchmark spawn_hostile = {
	.name = "spawn.hostile",
	.summary = "programs that misbehave are killed, and nothing is lost",
	.prepare = prepare,
	.sample = sample,
};

BENCHMARK(spawn_hostile);

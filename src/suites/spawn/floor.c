/*
 * spawn.floor: what a spawn is made of at the least.
 *
 * Metric `system-call`: at EL0, around a system call that does nothing.
 * Metric `eret`: core 0 before it resumes a process -> the process's next instruction.
 * Metric `address-space-switch`: around writing TTBR0_EL1, with its barriers.
 * Metric `tlb-invalidate`: around dropping an ASID's translations on all cores, until that is done.
 * Metric `page-clear`: around clearing a page.
 */
#include "spawn.h"

enum { SYSTEM_CALL, ERET, SWITCH, INVALIDATE, CLEAR, ROWS };

static struct sample_row *rows[ROWS];

static uint32_t row_count(uint32_t online)
{
	(void)online;
	return ROWS;
}

UNTIMED static bool prepare(struct benchmark_run *run)
{
	static const char *const metrics[ROWS] = {"system-call", "eret", "address-space-switch",
						  "tlb-invalidate", "page-clear"};

	if (!spawn_available(run)) {
		return false;
	}
	for (uint32_t i = 0; i < ROWS; i++) {
		rows[i] = benchmark_row(run, metrics[i], 0, SAMPLE_NO_CPU, NULL);
		if (rows[i] == NULL) {
			return false;
		}
	}
	return true;
}

/* Runs the process from its start on; it has stamped what it was asked for. */
TIMED static bool measure(struct spawn *spawn, enum program_task task)
{
	const struct address_space *space;
	uint64_t begin;
	uint64_t end;

	spawn_set_up(spawn, task, 0);
	if (!spawn_untracked.make(spawn) || !spawn_start(spawn)) {
		return false;
	}
	if (task == TASK_CALL) {
		space = &spawn->process->space;
		begin = counter_begin();
		address_space_switch(space);
		end = counter_end();
		sample_record(rows[SWITCH], (int64_t)(end - begin));
		begin = counter_begin();
		address_space_invalidate(space);
		end = counter_end();
		sample_record(rows[INVALIDATE], (int64_t)(end - begin));
		if (!spawn_finish(spawn)) {
			return false;
		}
		sample_record(rows[SYSTEM_CALL], (int64_t)spawn->process->result);
		return true;
	}
	spawn->event = process_run(spawn->process);
	begin = counter_begin();
	if (spawn->event != PROCESS_STARTED || !spawn_finish(spawn)) {
		return false;
	}
	sample_record(rows[ERET], (int64_t)(spawn->process->result - begin));
	return true;
}

TIMED static bool sample(struct benchmark_run *run)
{
	struct spawn spawn;
	uint64_t begin;
	uint64_t end;

	process_watch(SPAWN_LIMIT_MS);
	for (enum program_task task = TASK_CALL; task <= TASK_RESUME; task++) {
		bool good = measure(&spawn, task);

		if (!good) {
			(void)spawn_failed(run, &spawn);
		}
		spawn_unmake(&spawn_untracked, &spawn);
		if (!good) {
			process_unwatch();
			return false;
		}
	}
	process_unwatch();
	begin = counter_begin();
	page_clear(spawn_page);
	end = counter_end();
	sample_record(rows[CLEAR], (int64_t)(end - begin));
	return true;
}

static const struct benchmark spawn_floor = {
	.name = "spawn.floor",
	.summary = "what a spawn is made of at the least",
	.sample_count = spawn_case_sample_count,
	.sample_us = spawn_case_sample_us,
	.row_count = row_count,
	.prepare = prepare,
	.sample = sample,
};

BENCHMARK(spawn_floor);

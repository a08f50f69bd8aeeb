/*
 * What the spawn benchmarks share: starting processes up, the steps of a spawn, and one sample of
 * it. A spawn is made by a method of its own file, so that what is not tracked pays nothing for
 * tracking. All of it is timed code, core 0, unless said otherwise.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "el1bench/benchmark.h"
#include "el1bench/counter.h"
#include "el1bench/mmu.h"
#include "el1bench/process.h"
#include "el1bench/system_calls.h"
#include "el1bench/timed.h"
#include "tracking.h"

#define SPAWN_GROUP "spawn.process"
#define SPAWN_CONTROL "spawn.process.untracked"
#define SPAWN_SEGMENTS (ELF_SEGMENTS_MAX + 1) /* with the stack */

/* The stamps of a spawn in their order; each step ends with the one of its name. */
enum spawn_step {
	SPAWN_BEGIN,
	SPAWN_ADDRESS_SPACE,
	SPAWN_IMAGE,
	SPAWN_STACK,
	SPAWN_THREAD,
	SPAWN_SWITCH,
	SPAWN_STEPS
};

/* One spawn on its way. */
struct spawn {
	const void *file; /* the program */
	uint64_t file_bytes;
	uint64_t arguments[2];
	struct process *process;
	const char *problem; /* why it could not be made; a literal */
	uint64_t stamps[SPAWN_STEPS];
	uint64_t ended; /* kernel, back from the process's exit */
	uint64_t torn_down;
	/* Handles in the model. */
	uint64_t node;
	uint64_t space;
	uint64_t memory[SPAWN_SEGMENTS];
	uint64_t thread;
	uint32_t memory_count;
	uint32_t cpu; /* to run on */
	enum process_event event;
};

/* How a process is made, up to its thread, and unmade. `make` leaves why not in `problem`. */
struct spawn_method {
	bool (*make)(struct spawn *spawn);
	void (*unmake)(struct spawn *spawn);
	struct spawn_tracker *tracker; /* NULL: none */
	bool stamped;                  /* the inner stamps are taken */
};

/* What must be as before when all is torn down. */
struct spawn_counts {
	uint64_t pages;
	uint64_t asids;
	uint64_t slots;
	uint64_t threads;
	uint64_t model; /* nodes << 32 | edges */
};

enum spawn_row {
	ROW_TOTAL,
	ROW_ADDRESS_SPACE,
	ROW_IMAGE_LOAD,
	ROW_STACK_ARGUMENTS,
	ROW_THREAD,
	ROW_FIRST_SWITCH,
	ROW_FIRST_INSTRUCTION,
	ROW_EXIT,
	ROW_TEARDOWN,
	ROW_TOTAL_REMOTE,
	SPAWN_ROWS
};

/* A benchmark of a method. */
struct spawn_case {
	const struct spawn_method *method;
	struct sample_row *rows[SPAWN_ROWS];
	struct spawn_counts before;
	uint64_t spawned; /* 0: nothing counted yet */
};

/* The program that is spawned: the one that was given at initrd, else the embedded one. */
extern const void *spawn_program;
extern uint64_t spawn_program_bytes;

/* The embedded program. */
extern const char hello_program[], hello_program_end[];

/*
 * Before timing: makes processes possible, once; false after benchmark_skip or benchmark_fail.
 * Every spawn benchmark's `prepare` begins with it.
 */
bool spawn_available(struct benchmark_run *run);

/* Samples of what is slow under emulation: `few` where the user gave no number. Any time. */
#define SPAWN_SAMPLES 500
uint32_t spawn_samples(uint32_t asked, uint32_t few);

/* For benchmarks whose sample makes many processes, or large ones. */
uint32_t spawn_long_sample_count(uint32_t asked);
uint32_t spawn_long_sample_us(uint32_t online);

/* The embedded program, to run on core 0, with a task. */
void spawn_set_up(struct spawn *spawn, enum program_task task, uint64_t argument);

/* Page for anybody's use outside of intervals. */
extern void *spawn_page;

/* The counts now. */
void spawn_count(struct spawn_counts *counts, struct spawn_tracker *tracker);

/* Notes the counts before and after; false after benchmark_fail if they differ. */
bool spawn_check_counts(struct benchmark_run *run, const struct spawn_counts *before,
			struct spawn_tracker *tracker, uint64_t spawned);

/* Switches to a process that is made and runs it until it has started; false if it does not. */
bool spawn_start(struct spawn *spawn);

/* Lets it run to its exit; false if it does not. */
bool spawn_finish(struct spawn *spawn);

/* The `unmake` of methods that record nothing. */
void spawn_destroy(struct spawn *spawn);

/* Teardown, timed; of a spawn in any state. */
void spawn_unmake(const struct spawn_method *method, struct spawn *spawn);

/* Marks the benchmark failed with what went wrong in a spawn. */
bool spawn_failed(struct benchmark_run *run, const struct spawn *spawn);

/*
 * A benchmark of a method: what all of them have in common, and what one of them does in place of
 * spawn_case_prepare() or spawn_case_finish().
 */
#define SPAWN_BENCHMARK_WITH(identifier, text, what, how, before, after)                           \
	static struct spawn_case identifier##_case = {.method = how};                              \
	static const struct benchmark identifier = {                                               \
		.name = text,                                                                      \
		.summary = what,                                                                   \
		.group = SPAWN_GROUP,                                                              \
		.control = SPAWN_CONTROL,                                                          \
		.sample_count = spawn_case_sample_count,                                           \
		.sample_us = spawn_case_sample_us,                                                 \
		.row_count = spawn_case_row_count,                                                 \
		.data = &identifier##_case,                                                        \
		.prepare = before,                                                                 \
		.sample = spawn_case_sample,                                                       \
		.finish = after,                                                                   \
	};                                                                                         \
	BENCHMARK(identifier)
#define SPAWN_BENCHMARK(identifier, text, what, how)                                               \
	SPAWN_BENCHMARK_WITH(identifier, text, what, how, spawn_case_prepare, spawn_case_finish)

/* Its parts; its `data` is a spawn_case. */
bool spawn_case_prepare(struct benchmark_run *run);
bool spawn_case_sample(struct benchmark_run *run);
void spawn_case_finish(struct benchmark_run *run);
uint32_t spawn_case_row_count(uint32_t online);
uint32_t spawn_case_sample_count(uint32_t asked);
uint32_t spawn_case_sample_us(uint32_t online);

/* Plain and with the model; the others have one user each. */
extern const struct spawn_method spawn_untracked, spawn_tracked;

/* The time limit of a process, in milliseconds. */
#define SPAWN_LIMIT_MS 3000

/*
 * The steps. `tracking` and `stamped` are constants, so that each method gets code of its own.
 */
TIMED_INLINE void spawn_stamp(struct spawn *spawn, enum spawn_step step, bool stamped)
{
	if (stamped) {
		spawn->stamps[step] = counter_end();
	} else {
		/* The compiler moves as little across as with a stamp. */
		__asm__ volatile("" : : : "memory");
	}
}

TIMED_INLINE bool spawn_make(struct spawn *spawn, enum tracking tracking, bool stamped)
{
	struct process *process;
	uint64_t number;

	spawn->stamps[SPAWN_BEGIN] = counter_begin();
	process = process_take();
	spawn->process = process;
	spawn->problem = "there is no room for another process";
	if (process == NULL) {
		return false;
	}
	number = process->number;
	if (tracking != TRACKING_NONE) {
		spawn->memory_count = 0;
		spawn->thread = 0;
		spawn->space = 0;
		spawn->node = track_create(tracking, MODEL_PROCESS, number, 0);
	}
	if (!address_space_create(&process->space)) {
		return false;
	}
	if (tracking != TRACKING_NONE) {
		spawn->space = track_create(tracking, MODEL_ADDRESS_SPACE, number, spawn->node);
	}
	spawn_stamp(spawn, SPAWN_ADDRESS_SPACE, stamped);

	spawn->problem = process_load(process, spawn->file, spawn->file_bytes);
	if (spawn->problem != NULL) {
		return false;
	}
	if (tracking != TRACKING_NONE) {
		for (uint32_t i = 0; i < process->program.segment_count; i++) {
			track_memory(tracking, spawn->node, spawn->space, &spawn->memory[i],
				     number << 8 | i);
		}
		spawn->memory_count = process->program.segment_count;
	}
	spawn_stamp(spawn, SPAWN_IMAGE, stamped);

	spawn->problem = "there are not enough pages for a stack";
	if (!process_stack(process, spawn->arguments, 2)) {
		return false;
	}
	if (tracking != TRACKING_NONE) {
		track_memory(tracking, spawn->node, spawn->space,
			     &spawn->memory[spawn->memory_count], number << 8 | 0xff);
		spawn->memory_count++;
	}
	spawn_stamp(spawn, SPAWN_STACK, stamped);

	spawn->problem = "there is no room for another thread";
	if (!process_thread(process, spawn->cpu)) {
		return false;
	}
	if (tracking != TRACKING_NONE) {
		spawn->thread = track_create(tracking, MODEL_THREAD, number, spawn->node);
		track_runs_on(tracking, spawn->thread, spawn->cpu);
	}
	spawn_stamp(spawn, SPAWN_THREAD, stamped);
	spawn->problem = NULL;
	return true;
}

/* In the order that leaves holders and mappings for last. */
TIMED_INLINE void spawn_untrack(struct spawn *spawn, enum tracking tracking)
{
	track_release(tracking, spawn->thread);
	for (uint32_t i = 0; i < spawn->memory_count; i++) {
		track_release(tracking, spawn->memory[i]);
	}
	track_release(tracking, spawn->space);
	track_release(tracking, spawn->node);
}

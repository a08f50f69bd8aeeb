/*
 * Processes: an address space with a program, a stack and one thread, that run at EL0. A process is
 * made step by step, so that each step can be measured, on core 0; it runs on any core. It runs
 * until it asks for something or is killed, and never longer than the watch allows. Timed code
 * unless said otherwise.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "el1bench/address_space.h"
#include "el1bench/el0.h"
#include "el1bench/elf.h"

#define PROCESS_MAX 72U
#define PROCESS_ARGUMENTS_MAX 4U
#define PROCESS_STACK_TOP UINT64_C(0x200000) /* one page below it; below that, nothing */

struct process;

struct thread {
	struct el0_context context;
	struct process *process; /* NULL: free */
	uint32_t cpu;
};

enum process_event {
	PROCESS_STARTED,  /* it has said so; `first_stamp` */
	PROCESS_EXITED,   /* `result`, `exit_stamp` */
	PROCESS_RECEIVES, /* x0 of its context is its reply; a message goes into x0 to x4 */
	PROCESS_KILLED,   /* `killed_because` */
};

/* What a process was killed for. */
enum process_death {
	DEATH_NONE,
	DEATH_INSTRUCTION_ABORT,
	DEATH_DATA_ABORT,
	DEATH_EXCEPTION, /* any other */
	DEATH_TIME,
	DEATH_SYSTEM_CALL, /* one that there is none of, or too many */
};

struct process {
	uint32_t number; /* of its slot, from 1 */
	bool used;
	struct address_space space;
	struct elf_program program;
	struct thread *thread;
	uint64_t first_stamp; /* ticks, taken at EL0 */
	uint64_t exit_stamp;
	uint64_t result;
	enum process_death death;
	const char *killed_because; /* a format for the next three */
	uint64_t killed_numbers[3]; /* PC; address of an abort; ESR */
};

/* Takes memory for processes: core 0, once. False if pages are used up. Not timed code. */
bool process_start(void);

/* A free slot, marked as used; NULL if there is none. */
struct process *process_take(void);

/* Loads a program: maps, copies, clears, makes code visible. NULL, or why not: a literal. */
const char *process_load(struct process *process, const void *file, uint64_t bytes);

/* Maps the stack and puts up to PROCESS_ARGUMENTS_MAX arguments on it; false without pages. */
bool process_stack(struct process *process, const uint64_t *arguments, uint32_t count);

/* Makes the thread, ready to start at the program's entry; false if there is none. */
bool process_thread(struct process *process, uint32_t cpu);

/*
 * Runs the process, which must be in the calling core's address space, until it wants something.
 */
enum process_event process_run(struct process *process);

/* Ends the process, whatever state it is in, and gives everything back. It runs nowhere. */
void process_destroy(struct process *process);

/* Slots and threads that are free. */
uint32_t process_free_slots(void);
uint32_t process_free_threads(void);

/*
 * Before the calling core runs a process: sets the core up for EL0 where it is not yet, and limits
 * the time: a process that still runs after `milliseconds` is killed.
 */
void process_watch(uint32_t milliseconds);
void process_unwatch(void);

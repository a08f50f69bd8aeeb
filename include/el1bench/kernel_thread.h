/*
 * Threads of the kernel: a stack of one page and saved registers, switched to and from by hand. The
 * stack has no guard page below it: 4 KiB are to be enough for the thread and an interrupt.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "el1bench/pages.h"

struct kernel_thread;

/*
 * What a thread runs; `stamp` is the counter at its first instruction, ticks. It does not return
 * but switches to another thread for good.
 */
typedef void (*kernel_thread_function)(struct kernel_thread *self, uint64_t stamp);

struct kernel_thread {
	uint64_t x19_to_x30[12]; /* kernel_thread_switch.S knows the order of the first two */
	uint64_t sp;
	struct page_chain stack; /* of a thread that kernel_thread_create has made */
};

/* Makes a thread that is ready to start; false without pages. Core 0, timed code. */
bool kernel_thread_create(struct kernel_thread *thread, kernel_thread_function function);

/* Gives its stack back. It runs nowhere. Core 0, timed code. */
void kernel_thread_destroy(struct kernel_thread *thread);

/*
 * Keeps the caller's state in `from` and goes on with `to`; returns once somebody switches back to
 * `from`. Any core; `from` need not have been created.
 */
void kernel_thread_switch(struct kernel_thread *from, struct kernel_thread *to);

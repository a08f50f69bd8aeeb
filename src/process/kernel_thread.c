/*
 * Making and unmaking threads of the kernel.
 */
#include "el1bench/kernel_thread.h"

#include <stddef.h>

#include "el1bench/timed.h"

#define X19 0
#define X20 1
#define X29 10
#define X30 11

extern const char kernel_thread_start[];

_Static_assert(offsetof(struct kernel_thread, sp) == 96, "kernel_thread_switch.S");

TIMED bool kernel_thread_create(struct kernel_thread *thread, kernel_thread_function function)
{
	uint8_t *page;

	thread->stack.first = 0;
	thread->stack.last = 0;
	thread->stack.count = 0;
	page = page_take(&thread->stack);
	if (page == NULL) {
		return false;
	}
	thread->x19_to_x30[X19] = (uint64_t)thread;
	thread->x19_to_x30[X20] = (uint64_t)function;
	thread->x19_to_x30[X29] = 0;
	thread->x19_to_x30[X30] = (uint64_t)kernel_thread_start;
	thread->sp = (uint64_t)(page + PAGE_BYTES);
	return true;
}

TIMED void kernel_thread_destroy(struct kernel_thread *thread)
{
	pages_give_back(&thread->stack);
}

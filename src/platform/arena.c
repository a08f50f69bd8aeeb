/*
 * The RAM that samples live in: a pointer that only moves up, and back to a mark.
 */
#include "el1bench/arena.h"

#define ARENA_ALIGN 64U /* a cache line */

static struct {
	uintptr_t start;
	size_t bytes;
	size_t used;
} arena;

void arena_start(void *start, size_t bytes)
{
	uintptr_t address = (uintptr_t)start;
	size_t skip = (ARENA_ALIGN - address % ARENA_ALIGN) % ARENA_ALIGN;

	arena.start = address + skip;
	arena.bytes = bytes > skip ? (bytes - skip) & ~(size_t)(ARENA_ALIGN - 1) : 0;
	arena.used = 0;
}

void *arena_take(size_t bytes)
{
	size_t whole = (bytes + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
	void *taken;

	if (whole < bytes || whole > arena.bytes - arena.used) {
		return NULL;
	}
	taken = (void *)(arena.start + arena.used);
	arena.used += whole;
	return taken;
}

size_t arena_free_bytes(void)
{
	return arena.bytes - arena.used;
}

size_t arena_mark(void)
{
	return arena.used;
}

void arena_release(size_t mark)
{
	if (mark <= arena.used) {
		arena.used = mark;
	}
}

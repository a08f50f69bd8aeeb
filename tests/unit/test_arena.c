/* sources: src/platform/arena.c */
/*
 * The arena: alignment, exhaustion, marks, sizes that wrap.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "el1bench/arena.h"

static uint8_t memory[4096 + 64] __attribute__((aligned(64)));

static void takes_are_aligned_and_disjoint(void **state)
{
	uint8_t *a;
	uint8_t *b;

	(void)state;
	arena_start(memory + 1, 1024);
	assert_int_equal(arena_free_bytes(), 960);
	a = arena_take(1);
	b = arena_take(65);
	assert_ptr_equal(a, memory + 64);
	assert_ptr_equal(b, a + 64);
	assert_int_equal(arena_free_bytes(), 960 - 64 - 128);
}

static void nothing_more_than_there_is(void **state)
{
	(void)state;
	arena_start(memory, 256);
	assert_null(arena_take(257));
	assert_null(arena_take(SIZE_MAX));
	assert_null(arena_take(SIZE_MAX - 63));
	assert_non_null(arena_take(256));
	assert_null(arena_take(1));
	assert_int_equal(arena_free_bytes(), 0);
	arena_start(memory + 1, 60);
	assert_null(arena_take(1));
}

static void marks_give_back(void **state)
{
	size_t mark;
	void *scratch;

	(void)state;
	arena_start(memory, 1024);
	(void)arena_take(100);
	mark = arena_mark();
	scratch = arena_take(500);
	arena_release(mark);
	assert_ptr_equal(arena_take(10), scratch);
	arena_release(mark + 4096); /* never beyond what was taken */
	assert_int_equal(arena_free_bytes(), 1024 - 128 - 64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_are_aligned_and_disjoint),
		cmocka_unit_test(nothing_more_than_there_is),
		cmocka_unit_test(marks_give_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* sources: src/bench/samples.c src/platform/arena.c */
/*
 * The sample store: rows, exclusions, warm-up, the cold sample, derived rows, memory used up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "el1bench/arena.h"
#include "el1bench/samples.h"

#define ARENA_BYTES 16384

static void *memory;

static int set_up(void **state)
{
	(void)state;
	memory = aligned_alloc(64, ARENA_BYTES);
	arena_start(memory, ARENA_BYTES);
	return !samples_start(8);
}

static int tear_down(void **state)
{
	(void)state;
	free(memory);
	return 0;
}

static struct sample_row *open_row(uint32_t capacity)
{
	struct sample_row *row = samples_open("a.b", "total", 0, 1, "k=1", capacity, 0);

	assert_non_null(row);
	return row;
}

static void a_row_keeps_its_samples(void **state)
{
	struct sample_row *row = open_row(4);
	int64_t ticks;

	(void)state;
	assert_int_equal(samples_row_count(), 1);
	assert_ptr_equal(samples_row(0), row);
	assert_null(samples_row(1));
	sample_record(row, 5);
	sample_record(row, -1);
	sample_exclude(row, SAMPLE_LOST);
	sample_record(row, 0);
	sample_record(row, 77); /* beyond the capacity */
	assert_int_equal(sample_count(row), 4);
	assert_true(sample_value(row, 0, &ticks));
	assert_int_equal(ticks, 5);
	assert_false(sample_value(row, 1, &ticks));
	assert_false(sample_value(row, 2, &ticks));
	assert_true(sample_value(row, 3, &ticks));
	assert_int_equal(ticks, 0);
	assert_false(sample_value(row, 4, &ticks));
	assert_int_equal(row->excluded[SAMPLE_BACKWARDS], 1);
	assert_int_equal(row->excluded[SAMPLE_LOST], 1);
	assert_int_equal(row->excluded[SAMPLE_GOOD], 0);
	assert_int_equal(row->values[2], SAMPLE_EXCLUDED(SAMPLE_LOST));
}

static void warm_up_only_counts(void **state)
{
	struct sample_row *row = open_row(4);

	(void)state;
	samples_warm_up(true);
	sample_record(row, 900);
	sample_record(row, 20);
	sample_exclude(row, SAMPLE_LOST);
	samples_warm_up(false);
	sample_record(row, 10);
	assert_int_equal(row->warmup_count, 3);
	assert_int_equal(row->count, 1);
	assert_int_equal(row->excluded[SAMPLE_LOST], 0);
	assert_true(row->has_cold);
	assert_int_equal(row->cold, 900);
}

static void cold_is_the_very_first(void **state)
{
	struct sample_row *row = open_row(4);
	struct sample_row *spoilt = open_row(4);

	(void)state;
	sample_record(row, 30);
	sample_record(row, 10);
	assert_true(row->has_cold);
	assert_int_equal(row->cold, 30);
	sample_record(spoilt, -3);
	sample_record(spoilt, 10);
	assert_false(spoilt->has_cold);
}

static void derived_rows(void **state)
{
	struct sample_row *a = open_row(4);
	struct sample_row *b = open_row(4);
	struct sample_row *net = samples_open_derived("a.b", "net", a, b);
	int64_t ticks;

	(void)state;
	assert_non_null(net);
	assert_int_equal(net->peer, 1);
	assert_string_equal(net->factors, "k=1");
	assert_int_equal(sample_count(net), 0);
	sample_record(a, 10);
	sample_record(a, 10);
	sample_record(a, 10);
	sample_record(b, 12);
	sample_exclude(b, SAMPLE_SPURIOUS);
	assert_int_equal(sample_count(net), 2);
	assert_true(sample_value(net, 0, &ticks));
	assert_int_equal(ticks, -2); /* signed, and not excluded for it */
	assert_false(sample_value(net, 1, &ticks));
	assert_false(sample_value(net, 2, &ticks));
}

static void offsets_move_the_buffer(void **state)
{
	struct sample_row *plain = open_row(4);
	struct sample_row *moved = samples_open("a.b", "total", 0, 1, NULL, 4, 192);

	(void)state;
	assert_non_null(moved);
	assert_int_equal((uintptr_t)plain->values % 64, 0);
	assert_int_equal((uintptr_t)moved->values - (uintptr_t)plain->values, 64 + 192);
}

static void memory_runs_out(void **state)
{
	uint32_t rows = 0;

	(void)state;
	assert_null(samples_open("a.b", "total", 0, 1, NULL, ARENA_BYTES, 0));
	assert_int_equal(samples_row_count(), 0);
	while (samples_open("a.b", "total", 0, 1, NULL, 4, 0) != NULL) {
		rows++;
	}
	assert_int_equal(rows, 8);
	assert_null(samples_open_derived("a.b", "net", samples_row(0), samples_row(1)));
	assert_false(samples_start(1000));
	assert_int_equal(samples_row_count(), 0);
	assert_true(samples_start(0));
	assert_null(samples_open("a.b", "total", 0, 1, NULL, 4, 0));
}

static void names(void **state)
{
	(void)state;
	assert_string_equal(sample_exclusion_name(SAMPLE_BACKWARDS), "backwards");
	assert_string_equal(sample_exclusion_name(SAMPLE_SPURIOUS), "spurious");
	assert_string_equal(sample_exclusion_name((enum sample_exclusion)99), "unknown");
}

#define STORE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE(a_row_keeps_its_samples),
		STORE(warm_up_only_counts),
		STORE(cold_is_the_very_first),
		STORE(derived_rows),
		STORE(offsets_move_the_buffer),
		STORE(memory_runs_out),
		STORE(names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

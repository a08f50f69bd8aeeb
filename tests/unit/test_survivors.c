/* sources: src/bench/survivors.c src/bench/samples.c src/bench/benchmark_run.c src/bench/random.c src/bench/crc32.c src/platform/arena.c */
/*
 * Samples that outlive a reset, with a model of a cache that nothing leaves by itself: what was not
 * written back is lost.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../../src/bench/engine_state.h"
#include "../../src/bench/pace.h"
#include "el1bench/arena.h"
#include "el1bench/cache.h"
#include "el1bench/mmu.h"
#include "el1bench/survivors.h"

#define ARENA_BYTES (64U << 10)
#define LINE 64U
#define SAMPLES 40

struct engine engine;
struct boot_record boot_record = {.entry_stamp = 4711};

static uint8_t cached[ARENA_BYTES] __attribute__((aligned(4096)));
static uint8_t memory[ARENA_BYTES];

void cache_clean(const volatile void *start, size_t bytes)
{
	size_t first;
	size_t end;

	if (bytes == 0) {
		return;
	}
	first = (uintptr_t)start - (uintptr_t)cached;
	end = first + bytes;
	first -= first % LINE;
	for (; first < end; first += LINE) {
		assert_true(first < ARENA_BYTES);
		memcpy(memory + first, cached + first, LINE);
	}
}

void pace_spin(uint32_t spins)
{
	(void)spins;
}

static const struct benchmark benchmarks[] = {
	{.name = "a.one"},
	{.name = "a.two"},
	{.name = "b.one"},
	{.name = "c.one"},
};
static struct arguments arguments = {.seed = 99, .boot = 3, .text = "el1bench.watchdog=on"};
static char factors[16]; /* not in the arena: gone after a reset */

/* A boot up to the end of its plan: units (a.one, a.two), (b.one), (c.one), two rows each. */
static void start_boot(void)
{
	static const struct engine_unit units[] = {{0, 2, 0}, {2, 1, 0}, {3, 1, 0}};
	struct sample_row *first[4];

	survivors_keep();
	memset(&engine, 0, sizeof(engine));
	memcpy(engine.units, units, sizeof(units));
	engine.unit_count = 3;
	engine.arguments = &arguments;
	engine.spare_bytes = 4096;
	strcpy(factors, "payload=8");
	assert_true(samples_start(9));
	for (uint32_t i = 0; i < 4; i++) {
		engine.runs[i] = (struct benchmark_run){
			.benchmark = &benchmarks[i],
			.state = BENCHMARK_READY,
		};
		engine.run_count++;
		first[i] = samples_open(benchmarks[i].name, "total", 0, 1, NULL, SAMPLES, 64);
		assert_non_null(first[i]);
		assert_non_null(
			samples_open(benchmarks[i].name, "more", 0, 1, factors, SAMPLES, 0));
	}
	assert_non_null(samples_open_derived("a.two", "net", first[1], first[0]));
	assert_true(survivors_begin());
}

static int64_t expected(uint32_t row, uint32_t index)
{
	return (int64_t)(row * 1000 + index);
}

static void run_unit(uint32_t unit, uint32_t samples)
{
	uint32_t first = engine.units[unit].first * 2;
	uint32_t end = first + engine.units[unit].count * 2;

	for (uint32_t row = first; row < end; row++) {
		for (uint32_t i = 0; i < samples; i++) {
			sample_record(samples_row(row), expected(row, i));
		}
		engine.runs[row / 2].state = BENCHMARK_PASSED;
	}
}

/* The machine is reset: what was in the caches, and the image's own memory, is gone. */
static enum survivors_state next_boot(void)
{
	memcpy(cached, memory, sizeof(cached));
	memset(&engine, 0, sizeof(engine));
	memset(factors, 0, sizeof(factors));
	samples_adopt(NULL, 0);
	arena_start(cached, sizeof(cached));
	return survivors_look();
}

static void expect_row(uint32_t row, uint32_t count)
{
	const struct sample_row *found = samples_row(row);

	assert_int_equal(found->count, count);
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(found->values[i], expected(row, i));
	}
	if (count > 0 && row % 2 == 1) {
		assert_string_equal(found->factors, "payload=8");
	}
}

static int set_up(void **state)
{
	(void)state;
	memset(memory, 0xa5, sizeof(memory));
	assert_int_equal(next_boot(), SURVIVORS_NONE);
	arena_release(0);
	start_boot();
	return 0;
}

static void finished_units_survive(void **state)
{
	const struct survivors_boot *boot;

	(void)state;
	run_unit(0, SAMPLES);
	survivors_save(0);
	run_unit(1, SAMPLES / 2);
	survivors_save(1);
	run_unit(2, 7); /* in the middle of it ... */
	assert_int_equal(next_boot(), SURVIVORS_WHOLE);
	boot = survivors_adopt();
	assert_int_equal(boot->seed, 99);
	assert_int_equal(boot->boot, 3);
	assert_int_equal(boot->entry_stamp, 4711);
	assert_int_equal(boot->benchmarks, 4);
	assert_int_equal(boot->finished, 3);
	assert_string_equal(boot->arguments, "el1bench.watchdog=on");
	assert_int_equal(samples_row_count(), 9);
	for (uint32_t row = 0; row < 8; row++) {
		expect_row(row, row < 4 ? SAMPLES : row < 6 ? SAMPLES / 2 : 0);
	}
	assert_int_equal(sample_count(samples_row(8)), SAMPLES);
	assert_int_equal(engine.run_count, 4);
	assert_int_equal(engine.runs[2].state, BENCHMARK_PASSED);
	assert_ptr_equal(engine.runs[3].benchmark, &benchmarks[3]);
	assert_int_equal(engine.runs[3].state, BENCHMARK_FAILED);
	assert_string_equal(engine.runs[3].reason, "reset while it ran");
}

static void the_first_unit_may_hang(void **state)
{
	const struct survivors_boot *boot;

	(void)state;
	run_unit(0, 5);
	assert_int_equal(next_boot(), SURVIVORS_WHOLE);
	boot = survivors_adopt();
	assert_int_equal(boot->finished, 0);
	for (uint32_t row = 0; row < 9; row++) {
		assert_int_equal(sample_count(samples_row(row)), 0);
	}
	assert_int_equal(engine.runs[0].state, BENCHMARK_FAILED);
	assert_int_equal(engine.runs[1].state, BENCHMARK_FAILED);
	assert_int_equal(engine.runs[2].state, BENCHMARK_SKIPPED);
	assert_string_equal(engine.runs[3].reason, "reset before its turn");
}

static void all_of_it_survives_a_report_that_hangs(void **state)
{
	(void)state;
	for (uint32_t unit = 0; unit < 3; unit++) {
		run_unit(unit, SAMPLES);
		survivors_save(unit);
	}
	assert_int_equal(next_boot(), SURVIVORS_WHOLE);
	assert_int_equal(survivors_adopt()->finished, 4);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(engine.runs[i].state, BENCHMARK_PASSED);
		expect_row(2 * i, SAMPLES);
		expect_row(2 * i + 1, SAMPLES);
	}
}

static void what_is_taken_next_does_not_touch_them(void **state)
{
	uint8_t *scratch;

	(void)state;
	run_unit(0, SAMPLES);
	survivors_save(0);
	assert_int_equal(next_boot(), SURVIVORS_WHOLE);
	(void)survivors_adopt();
	scratch = arena_take(4096);
	assert_non_null(scratch);
	memset(scratch, 0xff, 4096);
	for (uint32_t row = 0; row < 4; row++) {
		expect_row(row, SAMPLES);
	}
}

static void forgotten_ones_are_gone(void **state)
{
	(void)state;
	run_unit(0, SAMPLES);
	survivors_save(0);
	survivors_forget();
	assert_int_equal(next_boot(), SURVIVORS_NONE);
}

static void found_ones_are_gone_once_forgotten(void **state)
{
	(void)state;
	run_unit(0, SAMPLES);
	survivors_save(0);
	assert_int_equal(next_boot(), SURVIVORS_WHOLE);
	assert_int_equal(next_boot(), SURVIVORS_WHOLE);
	survivors_forget();
	assert_int_equal(next_boot(), SURVIVORS_NONE);
}

/* Every bit of what was written either does not matter or is missed. */
static void no_flipped_bit_is_believed(void **state)
{
	static uint8_t good[ARENA_BYTES];
	uint32_t spoilt = 0;

	(void)state;
	for (uint32_t unit = 0; unit < 2; unit++) {
		run_unit(unit, SAMPLES);
		survivors_save(unit);
	}
	memcpy(good, memory, sizeof(good));
	for (size_t i = 0; i < arena_mark(); i += 3) {
		enum survivors_state found;

		memory[i] ^= (uint8_t)(1U << i % 8);
		found = next_boot();
		memory[i] = good[i];
		if (found == SURVIVORS_WHOLE) {
			(void)survivors_adopt();
			for (uint32_t row = 0; row < 6; row++) {
				expect_row(row, SAMPLES);
			}
		}
		spoilt += found == SURVIVORS_SPOILT;
		memcpy(cached, good, sizeof(cached));
	}
	assert_true(spoilt > 500);
}

static void not_asked_for_is_not_kept(void **state)
{
	(void)state;
	survivors_forget();
	run_unit(0, SAMPLES);
	assert_true(survivors_begin());
	survivors_save(0);
	assert_int_equal(next_boot(), SURVIVORS_NONE);
}

static void an_arena_that_is_too_small_refuses(void **state)
{
	(void)state;
	engine.spare_bytes = 0;
	assert_false(survivors_begin());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(finished_units_survive, set_up),
		cmocka_unit_test_setup(the_first_unit_may_hang, set_up),
		cmocka_unit_test_setup(all_of_it_survives_a_report_that_hangs, set_up),
		cmocka_unit_test_setup(what_is_taken_next_does_not_touch_them, set_up),
		cmocka_unit_test_setup(forgotten_ones_are_gone, set_up),
		cmocka_unit_test_setup(found_ones_are_gone_once_forgotten, set_up),
		cmocka_unit_test_setup(no_flipped_bit_is_believed, set_up),
		cmocka_unit_test_setup(not_asked_for_is_not_kept, set_up),
		cmocka_unit_test_setup(an_arena_that_is_too_small_refuses, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

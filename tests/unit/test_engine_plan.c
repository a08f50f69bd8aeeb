/* sources: src/bench/engine.c src/bench/engine_plan.c src/bench/engine_precision.c src/bench/precision.c src/bench/sort.c src/bench/benchmark_run.c src/bench/samples.c src/bench/random.c src/platform/arena.c src/platform/arguments.c src/platform/factors.c */
/*
 * What takes part in a run: selection by name, numbers of samples and the memory they take,
 * batches, the order that boot and seed give.
 */
#include "engine_fixture.h"

static void selection(void **state)
{
	(void)state;
	strcpy(arguments.suites, "alone,pair.c");
	plan_and_run();
	assert_int_equal(count_calls('x'), 13);
	assert_int_equal(count_calls('c'), 8);
	assert_int_equal(count_calls('a') + count_calls('b') + count_calls('y'), 0);
	assert_int_equal(run_of("pair.a")->state, BENCHMARK_NOT_SELECTED);
	assert_int_equal(engine_run_count(), 6);
	assert_int_not_equal(engine_run_at(1)->state, BENCHMARK_NOT_SELECTED);
	assert_int_equal(engine_run_at(2)->state, BENCHMARK_NOT_SELECTED);
}

static void unknown_names_refuse(void **state)
{
	(void)state;
	strcpy(arguments.suites, "pair,nobody.home");
	assert_false(plan());
	assert_non_null(strstr(reason, "nobody.home"));
	strcpy(arguments.suites, "pai");
	assert_false(plan());
	strcpy(arguments.suites, "pair.");
	assert_false(plan());
}

static void a_unit_longer_than_the_watchdog_waits_refuses(void **state)
{
	(void)state;
	watchdog_waits_ms = 25000;
	assert_true(plan());
	arguments.samples = 20000;
	assert_false(plan());
	assert_string_equal(reason, "%s may take %lu ms, the watchdog waits at most %lu");
	assert_true(numbers[1] > 25000);
	assert_int_equal(numbers[2], 25000);
	watchdog_waits_ms = 0; /* there is none */
	assert_true(plan());
}

static void no_memory_for_survivors_refuses(void **state)
{
	(void)state;
	no_memory_for_survivors = true;
	assert_false(plan());
	assert_non_null(reason);
}

static void too_many_samples_refuse(void **state)
{
	(void)state;
	arguments.samples = 1000000;
	assert_false(plan());
	assert_non_null(strstr(reason, "samples="));
	assert_int_equal(numbers[0], 1000000);
	assert_in_range(numbers[1], 32000000, 200000000);
	assert_in_range(numbers[2], ARENA_BYTES / 2, ARENA_BYTES);
	assert_int_equal(call_count, 0);
	arguments.samples = 1U << 24;
	assert_false(plan());
	assert_non_null(strstr(reason, "row can hold"));
	/* The largest that is taken does fit. */
	for (arguments.samples = 100000; !plan(); arguments.samples -= 1000) {
		assert_in_range(arguments.samples, 20000, 100000);
	}
	assert_in_range(arena_free_bytes(), (size_t)arguments.samples * 8, ARENA_BYTES);
}

static void memory_beyond_samples_and_report(void **state)
{
	size_t free_bytes;

	(void)state;
	arguments.samples = 1000;
	assert_true(plan());
	free_bytes = arena_free_bytes();
	assert_null(benchmark_memory(free_bytes));
	assert_null(benchmark_memory(UINT64_MAX));
	assert_non_null(benchmark_memory(1000));
	assert_int_equal(arena_free_bytes(), free_bytes - 1024);
	while (benchmark_memory(64) != NULL) {
	}
	assert_in_range(arena_free_bytes(),
			memory_need_report(samples_row_count(), arguments.samples), free_bytes / 2);
}

static uint32_t batched_samples(uint32_t asked, uint32_t batch)
{
	arena_start(memory, ARENA_BYTES);
	strcpy(arguments.suites, "batch");
	arguments.samples = asked;
	arguments.batch = batch;
	assert_true(plan());
	return run_of("batch.z")->samples;
}

static void batched_rows_take_fewer_samples(void **state)
{
	uint64_t bound;

	(void)state;
	assert_int_equal(batched_samples(10, 0), 10);
	assert_int_equal(batched_samples(100, 0), 32);
	assert_int_equal(batched_samples(1000, 0), 125);
	assert_int_equal(batched_samples(1000, 1), 125);
	assert_int_equal(batched_samples(1000, 64), 125);
	assert_int_equal(batched_samples(1000, 128), 62);
	bound = engine_bound_ms();
	assert_int_equal(batched_samples(1000, 65536), 32);
	assert_true(engine_bound_ms() > 2 * bound);
}

static void batches_span_many_steps(void **state)
{
	(void)state;
	(void)batched_samples(1000, 0);
	/* The fake counter's step is a tick: 256 of them. */
	assert_int_equal(benchmark_batch(1000000, 1), 2);
	assert_int_equal(benchmark_batch(128, 1), 2);
	assert_int_equal(benchmark_batch(127, 1), 4);
	assert_int_equal(benchmark_batch(16, 16), 256);
	assert_int_equal(benchmark_batch(17, 16), 256);
	assert_int_equal(benchmark_batch(32, 16), 128);
	assert_int_equal(benchmark_batch(0, 65536), 65536);
	(void)batched_samples(1000, 7);
	assert_int_equal(benchmark_batch(16, 16), 7);
}

static void ci_needs_auto(void **state)
{
	(void)state;
	arguments.ci_ppm = 10000;
	assert_false(plan());
	assert_string_equal(reason, "ci= needs samples=auto");
}

static void boots_and_seeds_differ(void **state)
{
	char first[6][256];
	uint32_t different = 0;

	(void)state;
	for (uint32_t i = 0; i < 6; i++) {
		arena_start(memory, ARENA_BYTES);
		call_count = 0;
		arguments.boot = i % 3;
		arguments.seed = 1 + i / 3;
		plan_and_run();
		memcpy(first[i], calls, sizeof(first[i]));
		for (uint32_t k = 0; k < i; k++) {
			different += memcmp(first[i], first[k], 60) != 0;
		}
	}
	assert_in_range(different, 14, 15);
	arena_start(memory, ARENA_BYTES);
	call_count = 0;
	plan_and_run();
	assert_memory_equal(first[5], calls, call_count); /* and are reproducible */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ENGINE(selection),
		ENGINE(unknown_names_refuse),
		ENGINE(too_many_samples_refuse),
		ENGINE(a_unit_longer_than_the_watchdog_waits_refuses),
		ENGINE(no_memory_for_survivors_refuses),
		ENGINE(memory_beyond_samples_and_report),
		ENGINE(batched_rows_take_fewer_samples),
		ENGINE(batches_span_many_steps),
		ENGINE(ci_needs_auto),
		ENGINE(boots_and_seeds_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* sources: src/bench/engine.c src/bench/engine_plan.c src/bench/engine_precision.c src/bench/precision.c src/bench/sort.c src/bench/benchmark_run.c src/bench/samples.c src/bench/random.c src/platform/arena.c src/platform/arguments.c src/platform/factors.c */
/* samples=auto: as many samples as the interval asked for takes. */
#include "engine_fixture.h"

/* The last note of a benchmark. */
static const struct benchmark_note *note_of(const struct benchmark_run *run)
{
	const struct benchmark_note *found = NULL;
	const struct benchmark_note *note;

	for (uint32_t i = 0; (note = engine_note(i)) != NULL; i++) {
		found = note->benchmark == run->benchmark ? note : found;
	}
	return found;
}

static void auto_mode(uint32_t ppm)
{
	arguments.samples_auto = true;
	arguments.ci_ppm = ppm;
}

static void auto_ends_with_the_first_look_if_it_can(void **state)
{
	(void)state;
	auto_mode(500000); /* the fake samples are the numbers up to n: no sharper than that */
	strcpy(arguments.suites, "pair,check");
	plan_and_run();
	assert_int_equal(row_of("pair.a", "total")->count, 128);
	assert_int_equal(row_of("pair.c", "total")->count, 128);
	assert_int_equal(row_of("pair.a", "total")->warmup_count, 3);
	assert_int_equal(count_calls('y'), 1);
	assert_int_equal(count_calls('A'), 1);
	assert_int_equal(run_of("pair.a")->state, BENCHMARK_PASSED);
	assert_null(note_of(run_of("pair.a")));
	assert_int_equal(engine_ci_ppm(), 500000);
}

static void auto_goes_on_to_the_cap(void **state)
{
	const struct benchmark_note *note;
	const struct benchmark_run *run;

	(void)state;
	auto_mode(0);
	strcpy(arguments.suites, "alone");
	plan_and_run();
	run = run_of("alone.x");
	assert_int_equal(engine_ci_ppm(), ENGINE_AUTO_CI_PPM);
	assert_int_equal(engine_samples(), ENGINE_AUTO_CAP);
	/* The median of the numbers up to n is known to 1.96 / sqrt(n) of it: 2 % at the cap. */
	assert_int_equal(row_of("alone.x", "total")->count, ENGINE_AUTO_CAP);
	/* Looked at after 128, 256, ... 8192 samples; each time warmed up again. */
	assert_int_equal(row_of("alone.x", "total")->warmup_count, 3 * (1 + 7));
	assert_int_equal(run->state, BENCHMARK_PASSED);
	assert_null(run->reason);
	note = note_of(run);
	assert_non_null(note);
	assert_non_null(strstr(note->text, "cap of %lu samples"));
	assert_int_equal(note->numbers[0], ENGINE_AUTO_CAP);
	assert_int_equal(note->numbers[1], 1);
	assert_int_equal(note->numbers[2], 1);
}

static void auto_stops_in_between(void **state)
{
	(void)state;
	auto_mode(50000);
	strcpy(arguments.suites, "alone");
	plan_and_run();
	/* 1.96 / sqrt(2048) is 4.3 %, 1.96 / sqrt(1024) is 6.1 %. The numbers begin at 100. */
	assert_int_equal(row_of("alone.x", "total")->count, 2048);
	assert_true(note_of(run_of("alone.x")) == NULL ||
		    note_of(run_of("alone.x"))->numbers[0] != 2048);
}

static void auto_failure_keeps_its_reason(void **state)
{
	(void)state;
	auto_mode(0);
	fail_at = 200;
	plan_and_run();
	assert_int_equal(run_of("pair.b")->state, BENCHMARK_FAILED);
	assert_string_equal(run_of("pair.b")->reason, "at %lu");
	/* pair.c takes half of what is asked: its cap is its own. */
	assert_int_equal(row_of("pair.c", "total")->count, ENGINE_AUTO_CAP / 2);
	assert_int_equal(note_of(run_of("pair.c"))->numbers[0], ENGINE_AUTO_CAP / 2);
	assert_null(note_of(run_of("pair.b")));
}

static void auto_fits_memory(void **state)
{
	(void)state;
	auto_mode(0);
	arena_start(memory, ARENA_BYTES / 8);
	assert_true(plan());
	assert_in_range(engine_samples(), 256, ENGINE_AUTO_CAP / 2);
	assert_int_equal(run_of("alone.x")->samples, engine_samples());
	arena_start(memory, 20000);
	assert_false(plan());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ENGINE(auto_ends_with_the_first_look_if_it_can),
		ENGINE(auto_goes_on_to_the_cap),
		ENGINE(auto_stops_in_between),
		ENGINE(auto_failure_keeps_its_reason),
		ENGINE(auto_fits_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

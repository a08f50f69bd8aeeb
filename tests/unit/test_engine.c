/* sources: src/bench/engine.c src/bench/engine_plan.c src/bench/engine_precision.c src/bench/precision.c src/bench/sort.c src/bench/benchmark_run.c src/bench/samples.c src/bench/random.c src/platform/arena.c src/platform/arguments.c src/platform/factors.c */
/*
 * What is called how often and in which order, how rounds pair cases up, what happens when a case
 * fails or prints.
 */
#include "engine_fixture.h"

static void everything_runs(void **state)
{
	(void)state;
	plan_and_run();
	assert_int_equal(engine_run_count(), 6);
	for (uint32_t i = 0; i < 6; i++) {
		assert_int_equal(engine_run_at(i)->state, BENCHMARK_PASSED);
	}
	assert_null(engine_run_at(6));
	assert_null(engine_current());
	assert_int_equal(count_calls('a'), 13);
	assert_int_equal(count_calls('b'), 13);
	assert_int_equal(count_calls('c'), 8);
	assert_int_equal(count_calls('x'), 13);
	assert_int_equal(count_calls('y'), 1); /* a check: once, no warm-up */
	assert_int_equal(count_calls('A') + count_calls('B') + count_calls('C'), 3);
	assert_int_equal(count_calls('Y'), 1);
	assert_int_equal(row_of("pair.a", "total")->count, 10);
	assert_int_equal(row_of("pair.a", "total")->warmup_count, 3);
	assert_int_equal(row_of("pair.c", "total")->count, 5);
	assert_int_equal(engine_checks()->uart_bytes_in_timed, 7);
	assert_true(stack_offset_seen < 4096 && stack_offset_seen % 16 == 0);
	assert_true(engine_buffer_offset() < 4096 && engine_buffer_offset() % 64 == 0);
	assert_in_range(spins_most, 30, 49);
	assert_true(engine_bound_ms() > 1000);
}

/* Nothing is sampled outside of the brackets, and no unit is without them. */
static void units_are_guarded_and_kept(void **state)
{
	bool inside = false;
	uint32_t units = 0;

	(void)state;
	plan_and_run();
	for (size_t i = 0; i < call_count; i++) {
		if (calls[i] == '[' || calls[i] == ']') {
			assert_true(inside == (calls[i] == ']'));
			inside = !inside;
			units += inside;
		} else {
			assert_true(inside);
		}
	}
	assert_false(inside);
	assert_in_range(units, 3, 6);
	assert_int_equal(units_saved, units);
	assert_true(armed_ms > 10000);
}

/* The calls of members of the pair, in order. */
static size_t pair_calls(char *text, bool with_finish)
{
	size_t length = 0;

	for (size_t i = 0; i < call_count; i++) {
		if (strchr(with_finish ? "abcABC" : "abc", calls[i]) != NULL) {
			text[length++] = calls[i];
		}
	}
	text[length] = '\0';
	return length;
}

static void rounds_are_mirrored(void **state)
{
	static char text[LOG_MAX];
	uint32_t orders[3] = {0};

	(void)state;
	arguments.samples = 2000;
	arguments.warmup = 0;
	plan_and_run();
	/* c takes part in the first 1000 rounds. */
	assert_int_equal(pair_calls(text, false), 3 * 1000 + 2 * 1000);
	for (size_t i = 0; i < 3000; i += 6) {
		for (size_t k = 0; k < 3; k++) {
			assert_int_equal(text[i + k], text[i + 5 - k]);
		}
		orders[text[i] - 'a']++;
	}
	for (size_t i = 3000; i < 5000; i += 4) {
		assert_int_equal(text[i], text[i + 3]);
		assert_int_equal(text[i + 1], text[i + 2]);
		assert_int_not_equal(text[i], text[i + 1]);
	}
	for (int i = 0; i < 3; i++) {
		assert_in_range(orders[i], 120, 215); /* 500 draws of three */
	}
}

static void derived_rows_pair_by_index(void **state)
{
	const struct sample_row *net;

	(void)state;
	plan_and_run();
	net = row_of("pair.b", "net");
	assert_non_null(net);
	assert_int_equal(net->cpu, 0);
	assert_int_equal(net->peer, 1);
	assert_int_equal(sample_count(net), 10);
	for (uint32_t i = 0; i < 10; i++) {
		int64_t ticks;

		assert_true(sample_value(net, i, &ticks));
		assert_int_equal(ticks, 900);
	}
	assert_null(row_of("pair.a", "net"));
	assert_null(row_of("alone.x", "net"));
}

static void no_derived_row_without_control(void **state)
{
	(void)state;
	strcpy(arguments.suites, "pair.b");
	plan_and_run();
	assert_non_null(row_of("pair.b", "total"));
	assert_null(row_of("pair.b", "net"));
}

static void failure_drops_out(void **state)
{
	const struct benchmark_run *run;

	(void)state;
	fail_at = 4;
	arguments.warmup = 0;
	plan_and_run();
	run = run_of("pair.b");
	assert_int_equal(run->state, BENCHMARK_FAILED);
	assert_string_equal(run->reason, "at %lu");
	assert_int_equal(run->reason_numbers[0], 4);
	assert_int_equal(count_calls('b'), 5);
	assert_int_equal(count_calls('B'), 1);
	assert_int_equal(count_calls('a'), 10);
	assert_int_equal(run_of("pair.a")->state, BENCHMARK_PASSED);
	assert_int_equal(sample_count(row_of("pair.b", "net")), 4);
	/* It is stopped at once, not when the others are through. */
	assert_ptr_equal(strchr(calls, 'B'), strrchr(calls, 'b') + 1);
}

static void failure_without_reason(void **state)
{
	(void)state;
	fail_at = 0;
	fail_silently = true;
	plan_and_run();
	assert_int_equal(run_of("pair.b")->state, BENCHMARK_FAILED);
	assert_non_null(run_of("pair.b")->reason);
	assert_int_equal(count_calls('b'), 1);
	assert_int_equal(count_calls('B'), 1);
}

static void skipped_in_prepare(void **state)
{
	(void)state;
	refuse_prepare = true;
	plan_and_run();
	assert_int_equal(run_of("pair.b")->state, BENCHMARK_SKIPPED);
	assert_int_equal(count_calls('b'), 0);
	assert_int_equal(count_calls('B'), 0);
	assert_int_equal(count_calls('a'), 13);
}

static void more_rows_than_announced(void **state)
{
	(void)state;
	too_many_rows = true;
	plan_and_run();
	assert_int_equal(run_of("pair.b")->state, BENCHMARK_FAILED);
}

static void exception_marks_the_running_one(void **state)
{
	const uint64_t callers[BENCHMARK_CALLERS] = {1};

	(void)state;
	engine_mark_failed("nobody", 0, 0, 0); /* no benchmark: nothing to mark */
	engine_note_output(5, callers);
	plan_and_run();
	for (uint32_t i = 0; i < engine_run_count(); i++) {
		assert_null(engine_run_at(i)->reason);
		assert_int_equal(engine_run_at(i)->stray.bytes, 0);
	}
}

/* A print is put down to the benchmark that was running, which goes on; the first caller stays. */
static void output_is_put_down_to_the_running_one(void **state)
{
	uint32_t culprits = 0;

	(void)state;
	print_at = arguments.samples - 3;
	plan_and_run();
	for (uint32_t i = 0; i < engine_run_count(); i++) {
		const struct benchmark_run *run = engine_run_at(i);

		if (strcmp(run->benchmark->name, "pair.b") == 0) {
			assert_int_equal(run->stray.bytes, 30);
			assert_int_equal(run->stray.callers[0], print_at);
			assert_int_equal(run->stray.callers[2], 3);
			culprits++;
		} else {
			assert_int_equal(run->stray.bytes, 0);
		}
	}
	assert_int_equal(culprits, 1);
}

static void checks_are_summed(void **state)
{
	struct sample_row *row;

	(void)state;
	plan_and_run();
	cpus[0].spurious_interrupts = 2;
	cpus[3].spurious_interrupts = 3;
	row = samples_row(0);
	row->count = 0;
	sample_exclude(row, SAMPLE_LOST);
	sample_record(row, -1);
	sample_record(row, -5);
	assert_int_equal(engine_checks()->spurious_interrupts, 5);
	assert_int_equal(engine_checks()->lost_interrupts, 1);
	assert_int_equal(engine_checks()->counter_backwards, 2);
}

static void odd_interrupts_spoil_a_sample(void **state)
{
	const struct sample_row *row;
	int64_t ticks;

	(void)state;
	interrupt_at = 2; /* of the warm-up, too */
	plan_and_run();
	row = row_of("pair.b", "total");
	assert_int_equal(row->count, 10);
	assert_int_equal(row->excluded[SAMPLE_SPURIOUS], 1);
	assert_true(sample_value(row, 1, &ticks));
	assert_false(sample_value(row, 2, &ticks));
	assert_true(sample_value(row, 3, &ticks));
	assert_int_equal(row_of("pair.a", "total")->excluded[SAMPLE_SPURIOUS], 0);
	assert_int_equal(engine_checks()->spurious_interrupts, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ENGINE(everything_runs),
		ENGINE(units_are_guarded_and_kept),
		ENGINE(rounds_are_mirrored),
		ENGINE(derived_rows_pair_by_index),
		ENGINE(no_derived_row_without_control),
		ENGINE(failure_drops_out),
		ENGINE(failure_without_reason),
		ENGINE(skipped_in_prepare),
		ENGINE(more_rows_than_announced),
		ENGINE(exception_marks_the_running_one),
		ENGINE(output_is_put_down_to_the_running_one),
		ENGINE(checks_are_summed),
		ENGINE(odd_interrupts_spoil_a_sample),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

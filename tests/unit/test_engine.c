/* sources: src/bench/engine.c src/bench/engine_plan.c src/bench/engine_precision.c src/bench/precision.c src/bench/sort.c src/bench/benchmark_run.c src/bench/samples.c src/bench/random.c src/platform/arena.c src/platform/arguments.c src/platform/factors.c */
/*
 * The engine with fake benchmarks: who is selected and in which order, what is called how often,
 * how rounds pair cases up, what happens when a case fails.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../src/bench/pace.h"
#include "../../src/bench/memory_need.h"
#include "el1bench/arena.h"
#include "el1bench/arguments.h"
#include "el1bench/cpu.h"
#include "el1bench/engine.h"
#include "el1bench/smp.h"

#define ARENA_BYTES (4U << 20)
#define LOG_MAX 100000

/* The machine that is not there. */

struct cpu cpus[CPU_MAX];
static uint32_t stack_offset_seen;
static uint32_t spins_most;

uint32_t smp_online_count(void)
{
	return 4;
}

bool smp_is_online(uint32_t cpu)
{
	return cpu < 4;
}

uint32_t pace_counter_step(void)
{
	return 1;
}

uint32_t pace_spin_range(void)
{
	return 50;
}

void pace_spin(uint32_t spins)
{
	spins_most = spins > spins_most ? spins : spins_most;
}

void pace_call(void (*function)(void), uint32_t stack_offset)
{
	stack_offset_seen = stack_offset;
	function();
}

/* The fake benchmarks log each call. */

static char calls[LOG_MAX];
static size_t call_count;
static bool timing;
static uint32_t fail_at; /* the sample that pair.b fails at */
static bool fail_silently;
static uint32_t print_at; /* the sample from which on pair.b prints */
static bool refuse_prepare;
static bool too_many_rows;

static void log_call(char call)
{
	assert_true(call_count < LOG_MAX - 1);
	calls[call_count++] = call;
	calls[call_count] = '\0';
}

static uint32_t count_calls(char call)
{
	uint32_t count = 0;

	for (size_t i = 0; i < call_count; i++) {
		count += calls[i] == call;
	}
	return count;
}

static uint32_t one_row(uint32_t online)
{
	assert_int_equal(online, 4);
	return 1;
}

static uint32_t half(uint32_t asked)
{
	return asked / 2;
}

static bool prepare_total(struct benchmark_run *run)
{
	assert_false(timing);
	if (refuse_prepare && strcmp(run->benchmark->name, "pair.b") == 0) {
		return benchmark_skip(run, "only %lu of %lu", 1, 2, 0);
	}
	run->rows[0] = benchmark_row(run, "total", 0, 1, NULL);
	if (too_many_rows && strcmp(run->benchmark->name, "pair.b") == 0) {
		while (benchmark_row(run, "more", 0, 1, NULL) != NULL) {
		}
		return false;
	}
	return run->rows[0] != NULL;
}

static bool sample_logged(struct benchmark_run *run)
{
	const char *name = run->benchmark->name;
	char call = name[strlen(name) - 1];

	assert_true(timing);
	assert_ptr_equal(engine_current(), run);
	log_call(call);
	if (call == 'b' && run->index >= print_at) {
		const uint64_t callers[BENCHMARK_CALLERS] = {run->index, 2, 3};

		engine_note_output(10, callers);
	}
	if (call == 'b' && run->index == fail_at) {
		return fail_silently ? false : benchmark_fail(run, "at %lu", run->index, 0, 0);
	}
	if (run->rows[0] != NULL) {
		sample_record(run->rows[0], run->index + (call == 'b' ? 1000 : 100));
	}
	return true;
}

static void finish_logged(struct benchmark_run *run)
{
	const char *name = run->benchmark->name;

	assert_true(timing);
	log_call((char)(name[strlen(name) - 1] - 'a' + 'A'));
}

#define PAIR(letter, ...)                                                                          \
	static const struct benchmark pair_##letter = {.name = "pair." #letter,                    \
						       .group = "pair",                            \
						       .row_count = one_row,                       \
						       .prepare = prepare_total,                   \
						       .sample = sample_logged,                    \
						       .finish = finish_logged,                    \
						       __VA_ARGS__}

PAIR(a, .control = NULL);
PAIR(b, .control = "pair.a");
PAIR(c, .sample_count = half);

static const struct benchmark batch_z = {
	.name = "batch.z",
	.batched = true,
	.row_count = one_row,
	.prepare = prepare_total,
	.sample = sample_logged,
};

static const struct benchmark alone_x = {
	.name = "alone.x",
	.row_count = one_row,
	.prepare = prepare_total,
	.sample = sample_logged,
};

static const struct benchmark check_y = {
	.name = "check.y",
	.sample = sample_logged,
	.finish = finish_logged,
};

/* What the linker script provides in the image. */
extern const struct benchmark *const benchmark_table[];
const struct benchmark *const benchmark_table[] = {&alone_x, &check_y, &pair_a,
						   &pair_b,  &pair_c,  &batch_z};
__asm__(".globl benchmarks_start\n"
	".set benchmarks_start, benchmark_table\n"
	".globl benchmarks_end\n"
	".set benchmarks_end, benchmark_table + 48\n");

static void timing_starts(void)
{
	timing = true;
}

static void timing_ends(struct engine_checks *checks)
{
	timing = false;
	checks->uart_bytes_in_timed = 7;
}

static const struct engine_hooks hooks = {timing_starts, timing_ends};

static void *memory;
static struct arguments arguments;
static const char *reason;
static uint64_t numbers[3];

static int set_up(void **state)
{
	(void)state;
	memory = malloc(ARENA_BYTES);
	arena_start(memory, ARENA_BYTES);
	arguments_defaults(&arguments);
	arguments.samples = 10;
	arguments.warmup = 3;
	call_count = 0;
	calls[0] = '\0';
	fail_at = UINT32_MAX;
	print_at = UINT32_MAX;
	fail_silently = false;
	refuse_prepare = false;
	too_many_rows = false;
	reason = NULL;
	memset(cpus, 0, sizeof(cpus));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free(memory);
	return 0;
}

static bool plan(void)
{
	return engine_plan(&arguments, &reason, numbers);
}

static void plan_and_run(void)
{
	assert_true(plan());
	engine_run(&hooks);
}

static const struct benchmark_run *run_of(const char *name)
{
	for (uint32_t i = 0; i < engine_run_count(); i++) {
		if (strcmp(engine_run_at(i)->benchmark->name, name) == 0) {
			return engine_run_at(i);
		}
	}
	fail();
	return NULL;
}

static const struct sample_row *row_of(const char *benchmark, const char *metric)
{
	for (uint32_t i = 0; i < samples_row_count(); i++) {
		const struct sample_row *row = samples_row(i);

		if (strcmp(row->benchmark, benchmark) == 0 && strcmp(row->metric, metric) == 0) {
			return row;
		}
	}
	return NULL;
}

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
	cpus[63].spurious_interrupts = 3;
	row = samples_row(0);
	row->count = 0;
	sample_exclude(row, SAMPLE_LOST);
	sample_record(row, -1);
	sample_record(row, -5);
	assert_int_equal(engine_checks()->spurious_interrupts, 5);
	assert_int_equal(engine_checks()->lost_interrupts, 1);
	assert_int_equal(engine_checks()->counter_backwards, 2);
}

#define ENGINE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ENGINE(everything_runs),
		ENGINE(rounds_are_mirrored),
		ENGINE(derived_rows_pair_by_index),
		ENGINE(no_derived_row_without_control),
		ENGINE(failure_drops_out),
		ENGINE(failure_without_reason),
		ENGINE(skipped_in_prepare),
		ENGINE(more_rows_than_announced),
		ENGINE(selection),
		ENGINE(unknown_names_refuse),
		ENGINE(too_many_samples_refuse),
		ENGINE(batched_rows_take_fewer_samples),
		ENGINE(batches_span_many_steps),
		ENGINE(auto_ends_with_the_first_look_if_it_can),
		ENGINE(auto_goes_on_to_the_cap),
		ENGINE(auto_stops_in_between),
		ENGINE(auto_failure_keeps_its_reason),
		ENGINE(memory_beyond_samples_and_report),
		ENGINE(auto_fits_memory),
		ENGINE(ci_needs_auto),
		ENGINE(boots_and_seeds_differ),
		ENGINE(exception_marks_the_running_one),
		ENGINE(output_is_put_down_to_the_running_one),
		ENGINE(checks_are_summed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

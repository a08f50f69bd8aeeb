/*
 * The engine with fake benchmarks, for test_engine*.c: three that form a group, one that is
 * batched, one alone, one check. Each call of theirs is logged; what they do wrong is set by
 * variables.
 */
#pragma once

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
#include "el1bench/survivors.h"
#include "el1bench/watchdog.h"

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

uint32_t smp_online_cpu(uint32_t position)
{
	return position;
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
static uint32_t interrupt_at; /* the sample of pair.b that core 2 gets an odd interrupt in */
static bool too_many_rows;

static void log_call(char call)
{
	assert_true(call_count < LOG_MAX - 1);
	calls[call_count++] = call;
	calls[call_count] = '\0';
}

static inline uint32_t count_calls(char call)
{
	uint32_t count = 0;

	for (size_t i = 0; i < call_count; i++) {
		count += calls[i] == call;
	}
	return count;
}

/* Between units: `[` when the watchdog is armed for one, `]` when its samples are to be kept. */

static uint32_t watchdog_waits_ms;
static uint32_t armed_ms;
static uint32_t units_saved;
static bool no_memory_for_survivors;

uint32_t watchdog_max_ms(void)
{
	return watchdog_waits_ms;
}

void watchdog_arm(uint32_t milliseconds)
{
	armed_ms = milliseconds;
	log_call('[');
}

bool survivors_begin(void)
{
	assert_false(timing);
	units_saved = 0;
	return !no_memory_for_survivors;
}

void survivors_save(uint32_t unit)
{
	assert_int_equal(unit, units_saved);
	units_saved++;
	log_call(']');
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
	if (call == 'b' && run->index == interrupt_at) {
		cpus[2].spurious_interrupts++;
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
	interrupt_at = UINT32_MAX;
	refuse_prepare = false;
	too_many_rows = false;
	watchdog_waits_ms = 0;
	armed_ms = 0;
	no_memory_for_survivors = false;
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

static inline bool plan(void)
{
	return engine_plan(&arguments, &reason, numbers);
}

static inline void plan_and_run(void)
{
	assert_true(plan());
	engine_run(&hooks);
}

static inline const struct benchmark_run *run_of(const char *name)
{
	for (uint32_t i = 0; i < engine_run_count(); i++) {
		if (strcmp(engine_run_at(i)->benchmark->name, name) == 0) {
			return engine_run_at(i);
		}
	}
	fail();
	return NULL;
}

static inline const struct sample_row *row_of(const char *benchmark, const char *metric)
{
	for (uint32_t i = 0; i < samples_row_count(); i++) {
		const struct sample_row *row = samples_row(i);

		if (strcmp(row->benchmark, benchmark) == 0 && strcmp(row->metric, metric) == 0) {
			return row;
		}
	}
	return NULL;
}

#define ENGINE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

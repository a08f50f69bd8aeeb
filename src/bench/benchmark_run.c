/*
 * What a benchmark may ask of the engine: rows, and a word on why it cannot go on.
 */
#include "el1bench/benchmark.h"

#include <stddef.h>

#include "el1bench/arena.h"
#include "el1bench/engine.h"
#include "engine_state.h"
#include "pace.h"

#define MEMORY_ROUNDING 64 /* the arena hands out multiples of this */

static struct benchmark_note notes[BENCHMARK_NOTES_MAX];
static uint32_t note_count;
static struct benchmark_counts *all_counts;

struct sample_row *benchmark_row(struct benchmark_run *run, const char *metric, int32_t cpu,
				 int32_t peer, const char *factors)
{
	struct sample_row *row = samples_open(run->benchmark->name, metric, cpu, peer, factors,
					      run->samples, engine.buffer_offset);

	if (row == NULL) {
		(void)benchmark_fail(run, "it opens more rows than it has announced", 0, 0, 0);
	}
	return row;
}

void *benchmark_memory(uint64_t bytes)
{
	uint64_t whole = (bytes + MEMORY_ROUNDING - 1) & ~(uint64_t)(MEMORY_ROUNDING - 1);

	if (whole < bytes || whole > engine.spare_bytes) {
		return NULL;
	}
	engine.spare_bytes -= whole;
	return arena_take(whole);
}

TIMED void benchmark_note(const struct benchmark_run *run, const char *text, uint64_t a, uint64_t b,
			  uint64_t c)
{
	struct benchmark_note *note = &notes[note_count];

	if (note_count == BENCHMARK_NOTES_MAX) {
		return;
	}
	note_count++;
	note->benchmark = run->benchmark;
	note->text = text;
	note->numbers[0] = a;
	note->numbers[1] = b;
	note->numbers[2] = c;
}

const struct benchmark_note *engine_note(uint32_t index)
{
	return index < note_count ? &notes[index] : NULL;
}

void benchmark_count(struct benchmark_counts *counts)
{
	counts->next = all_counts;
	all_counts = counts;
}

const struct benchmark_counts *engine_counts(void)
{
	return all_counts;
}

/* The first word stands. */
TIMED static bool end(struct benchmark_run *run, enum benchmark_state state, const char *reason,
		      uint64_t a, uint64_t b, uint64_t c)
{
	if (run->reason == NULL) {
		run->state = state;
		run->reason = reason;
		run->reason_numbers[0] = a;
		run->reason_numbers[1] = b;
		run->reason_numbers[2] = c;
	}
	return false;
}

TIMED bool benchmark_skip(struct benchmark_run *run, const char *reason, uint64_t a, uint64_t b,
			  uint64_t c)
{
	return end(run, BENCHMARK_SKIPPED, reason, a, b, c);
}

TIMED bool benchmark_fail(struct benchmark_run *run, const char *reason, uint64_t a, uint64_t b,
			  uint64_t c)
{
	return end(run, BENCHMARK_FAILED, reason, a, b, c);
}

TIMED uint32_t benchmark_batch(uint64_t ticks, uint32_t operations)
{
	uint64_t target = (uint64_t)BENCHMARK_BATCH_STEPS * engine.counter_step * operations;
	uint32_t batch = BENCHMARK_BATCH_MIN;

	if (engine.batch != 0) {
		return engine.batch;
	}
	while (batch < BENCHMARK_BATCH_MAX && ticks * batch < target) {
		batch *= 2;
	}
	return batch;
}

TIMED const struct arguments *benchmark_arguments(void)
{
	return engine.arguments;
}

TIMED uint32_t benchmark_draw_gap(struct benchmark_run *run)
{
	return random_below(run->random, engine.spin_range);
}

TIMED void benchmark_spin(uint32_t spins)
{
	pace_spin(spins);
}

/*
 * What a benchmark may ask of the engine: rows, and a word on why it cannot go on.
 */
#include "el1bench/benchmark.h"

#include <stddef.h>

#include "engine_state.h"

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

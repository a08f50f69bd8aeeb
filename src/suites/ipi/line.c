/*
 * ipi.line: a cache line written and another one in answer, both sides polling.
 *
 * Metric `round-trip`: one core, before it writes -> it has seen the other core's answer.
 *
 * Both sides poll with `yield`. What an interrupt costs beyond that is what it adds.
 */
#include "round_trip.h"

TIMED static bool visit(struct benchmark_run *run, uint32_t place, uint32_t count)
{
	return round_trip_visit(run, PAIR_LINE, place, count);
}

static struct sweep sweep = {.visit = visit};

static bool prepare(struct benchmark_run *run)
{
	return round_trip_prepare(run, &sweep);
}

TIMED static bool sample(struct benchmark_run *run)
{
	return sweep_sample(run, &sweep);
}

TIMED static void finish(struct benchmark_run *run)
{
	sweep_note(run, &sweep, sweep.places);
}

static uint64_t bound_ms(const struct benchmark_run *run)
{
	return sweep_bound_ms(run, &sweep);
}

static const struct benchmark ipi_line = {
	.name = "ipi.line",
	.summary = "a cache line written and another one in answer, both sides polling",
	.row_count = round_trip_row_count,
	.bound_ms = bound_ms,
	.prepare = prepare,
	.sample = sample,
	.finish = finish,
};

BENCHMARK(ipi_line);

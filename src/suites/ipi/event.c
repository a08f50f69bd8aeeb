/*
 * ipi.event: a question and an answer with SEV, both sides waiting in WFE.
 *
 * Metric `round-trip`: one core, before it writes -> it has seen the other core's answer.
 *
 * Both sides wait in WFE with their event streams on. An emulator whose WFE returns at once shows
 * polling here.
 */
#include "round_trip.h"

TIMED static bool visit(struct benchmark_run *run, uint32_t place, uint32_t count)
{
	return round_trip_visit(run, PAIR_EVENT, place, count);
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

static const struct benchmark ipi_event = {
	.name = "ipi.event",
	.summary = "a question and an answer with SEV, both sides waiting in WFE",
	.row_count = round_trip_row_count,
	.bound_ms = bound_ms,
	.prepare = prepare,
	.sample = sample,
	.finish = finish,
};

BENCHMARK(ipi_event);

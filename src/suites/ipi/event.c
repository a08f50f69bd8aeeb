/*
 * ipi.event: a question and an answer with SEV, both sides waiting in WFE.
 *
 * Metric `round-trip`: one core, before it writes -> it has seen the other core's answer.
 *
 * Both sides wait in WFE with their event streams on. An emulator whose WFE returns at once shows
 * polling here.
 */
#include "round_trip.h"

static struct sweep sweep = {.visit = round_trip_visit};

static const struct benchmark ipi_event = {
	.name = "ipi.event",
	.summary = "a question and an answer with SEV, both sides waiting in WFE",
	.variant = PAIR_EVENT,
	.data = &sweep,
	.row_count = round_trip_row_count,
	.bound_ms = round_trip_bound_ms,
	.prepare = round_trip_prepare,
	.sample = round_trip_sample,
	.finish = round_trip_finish,
};

BENCHMARK(ipi_event);

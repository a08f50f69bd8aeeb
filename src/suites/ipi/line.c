/*
 * ipi.line: a cache line written and another one in answer, both sides polling.
 *
 * Metric `round-trip`: one core, before it writes -> it has seen the other core's answer.
 *
 * Both sides poll with `yield`. What an interrupt costs beyond that is what it adds.
 */
#include "round_trip.h"

static struct sweep sweep = {.visit = round_trip_visit};

static const struct benchmark ipi_line = {
	.name = "ipi.line",
	.summary = "a cache line written and another one in answer, both sides polling",
	.variant = PAIR_LINE,
	.data = &sweep,
	.row_count = round_trip_row_count,
	.bound_ms = round_trip_bound_ms,
	.prepare = round_trip_prepare,
	.sample = round_trip_sample,
	.finish = round_trip_finish,
};

BENCHMARK(ipi_line);

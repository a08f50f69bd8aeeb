/*
 * The base lines that do without an interrupt: a question and an answer between every two cores, of
 * either kind that has no interrupt. Metric `round-trip`; a row for each two cores, the lower index
 * first.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "pair.h"
#include "sweep.h"

uint32_t round_trip_row_count(uint32_t online);
bool round_trip_prepare(struct benchmark_run *run, struct sweep *sweep);
/* The visit of that sweep. Timed code. */
bool round_trip_visit(struct benchmark_run *run, enum pair_kind kind, uint32_t place,
		      uint32_t count);

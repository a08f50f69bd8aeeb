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

/* The whole of a benchmark whose `variant` is the enum pair_kind and whose `data` is a sweep ... */
uint32_t round_trip_row_count(uint32_t online);
uint64_t round_trip_bound_ms(const struct benchmark_run *run);
bool round_trip_prepare(struct benchmark_run *run);
bool round_trip_sample(struct benchmark_run *run);
void round_trip_finish(struct benchmark_run *run);

/* ... with this visit. Timed code. */
bool round_trip_visit(struct benchmark_run *run, uint32_t place, uint32_t count);

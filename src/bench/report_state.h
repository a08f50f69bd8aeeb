/*
 * What the parts of the report share. Core 0, after timing.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "el1bench/arguments.h"
#include "el1bench/benchmark.h"
#include "el1bench/samples.h"
#include "el1bench/statistics.h"

/* Of this boot so far, for the trailer. */
struct report_counts {
	uint32_t metric_lines; /* `metric` and `derived` */
	uint32_t raw_lines;
	uint32_t failures; /* calls of report_failure */
};

extern struct report_counts report_counts;

/*
 * The statistics of all rows, by row index, in the arena; NULL if it is too small or there are no
 * rows.
 */
const struct statistics *report_statistics(void);

/* A row's exclusions by reason; for a derived row, those of its two rows. */
void report_exclusions(const struct sample_row *row, uint32_t counts[SAMPLE_EXCLUSIONS]);

/* How a benchmark ended: one that a stopped run never got through counts as failed. */
enum benchmark_state report_outcome(const struct benchmark_run *run);

/* Its reason, formatted; "" if there is none. Valid until the next call. */
const char *report_reason(const struct benchmark_run *run);

/* One line for each selected benchmark: how it ended. */
void report_outcomes(void);

/* An upper bound of the time that the output of all rows takes, ms. */
uint64_t report_output_bound_ms(const struct arguments *arguments);

/* The text that was refused while timing, if there is any. */
void report_stray_text(void);

/* What a benchmark left, formatted. Valid until the next call. */
const char *report_note(const struct benchmark_note *note);

/* The table for a person. `statistics` may be NULL: no rows. */
void report_table(const struct arguments *arguments, const struct statistics *statistics);

/*
 * The grids of a metric's medians, one for each combination of factors. All its rows have two cores
 * with indices below REPORT_GRID_CORES.
 */
#define REPORT_GRID_CORES 16
void report_grids(const char *benchmark, const char *metric, const struct statistics *statistics);

/*
 * A line for each test that firmware took stamps in and each core: <RT_INSTR:name, cluster, core
 * and medians in nanoseconds, tabs between them, />.
 */
void report_rt_instr(const struct statistics *statistics);

/* The `metric` and `derived` lines. */
void report_metrics(const struct statistics *statistics);

/* The `table` and `raw` lines of all rows. */
void report_raw(void);

/* The `info` line with the CRC-32 of code and constants as they are in memory. */
void report_image_crc(void);

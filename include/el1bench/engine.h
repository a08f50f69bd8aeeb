/*
 * The engine: selects benchmarks, plans, draws the order, takes the samples with the console
 * locked, and leaves everything in the sample store. It names no benchmark. Core 0.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "el1bench/arguments.h"
#include "el1bench/benchmark.h"

struct engine_checks {
	uint64_t uart_bytes_in_timed;   /* that reached the UART while timing: must be 0 */
	uint64_t console_refused_bytes; /* that somebody tried to write while timing: must be 0 */
	uint64_t counter_backwards;     /* excluded samples, all rows */
	uint64_t lost_interrupts;       /* the same */
	uint64_t spurious_interrupts;   /* all cores */
};

/*
 * Selects by `arguments->suites`, sizes the store, calls every `prepare`, opens a derived row `net`
 * for each benchmark whose control is there too. False with a reason (a format for up to three %lu)
 * if a name selects nothing or the samples do not fit; nothing has run then, and the run is
 * refused. Once a boot.
 */
bool engine_plan(const struct arguments *arguments, const char **reason, uint64_t numbers[3]);

/*
 * With samples=auto a row gets no more samples than this, and fewer where memory holds fewer. The
 * rounds of a unit go on until every row of it is as precise as `ci=` says (precision.h), or to the
 * cap; a note then says which benchmark was not.
 */
#define ENGINE_AUTO_CAP 10000U
#define ENGINE_AUTO_CI_PPM 10000U /* without `ci=`: 1 % */

/* Samples asked for each row, or the cap; what is to be reached, in parts per million, or 0. */
uint32_t engine_samples(void);
uint32_t engine_ci_ppm(void);

/* An upper bound of the timed part in milliseconds, for the plan line; at least 1. */
uint64_t engine_bound_ms(void);

/*
 * What lies around the timed part. The engine knows no console: whoever owns it locks it and counts
 * its bytes here. `report_timing_hooks` (report.h) is the set that an image uses.
 */
struct engine_hooks {
	void (*timing_starts)(void); /* right before the first sample */
	/* Right after the last; fills in the console's part of the checks. */
	void (*timing_ends)(struct engine_checks *checks);
};

/* Runs everything planned, between the two hooks. Interrupts are unmasked on core 0 meanwhile. */
void engine_run(const struct engine_hooks *hooks);

/* The checks so far; what concerns samples and interrupts is counted by this call. */
const struct engine_checks *engine_checks(void);

/* All registered benchmarks, the selected ones first, in drawn order, with how they ended. */
uint32_t engine_run_count(void);
const struct benchmark_run *engine_run_at(uint32_t position);

/* The notes that were kept, in order; NULL beyond the last. */
const struct benchmark_note *engine_note(uint32_t index);

/* The counts of all benchmarks, the latest ones first. */
const struct benchmark_counts *engine_counts(void);

/* The benchmark that is running now, or NULL: for the exception report. Any core. */
const struct benchmark_run *engine_current(void);

/* Marks the running benchmark failed because of an exception; see panic.h. */
void engine_mark_failed(const char *reason, uint64_t a, uint64_t b, uint64_t c);

/* Notes a write that was refused, with the benchmark that is running. Core 0, while timing. */
void engine_note_output(size_t bytes, const uint64_t callers[BENCHMARK_CALLERS]);

/* This boot's offsets, bytes: of the sampling loop's stack and of the sample buffers. */
uint32_t engine_stack_offset(void);
uint32_t engine_buffer_offset(void);

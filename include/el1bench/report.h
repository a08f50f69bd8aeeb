/*
 * Everything that is printed, before and after timing: the begin and provenance lines, the plan,
 * the table for a person, the machine lines, the raw samples, the trailer. Core 0.
 */
#pragma once

#include <stdbool.h>

#include "el1bench/arguments.h"
#include "el1bench/engine.h"

enum run_status { RUN_PASSED, RUN_FAILED, RUN_REFUSED };

/* First lines of a boot: `begin`, and what is known of the image and of how it was entered. */
void report_begin(const struct arguments *arguments);

/* Machine, cores and caches, once the cores are up. */
void report_machine(const struct arguments *arguments);

/*
 * The samples that an earlier boot left in memory, if there are any, or why they are not to be had:
 * before anything is taken from the arena. They are gone afterwards; with watchdog=on, this boot's
 * own are to be kept.
 */
void report_survivors(const struct arguments *arguments);

/*
 * The marks of an interval of at least `clock_ms` that the host checks the counter by: some before
 * the plan line, some before the trailer. They carry the counter, and wait for the line to be idle.
 */
void report_clock_begin(const struct arguments *arguments);
void report_clock_end(const struct arguments *arguments);

/* The plan line: the last output before the first timed region. */
void report_plan(const struct arguments *arguments);

/* Locks the console while timing and counts what got through or was refused: for engine_run. */
extern const struct engine_hooks report_timing_hooks;

/* Table, metrics, outcomes, checks and, if asked, raw samples. */
void report_results(const struct arguments *arguments);

/* One `fail` line for something outside any benchmark (a core that did not start, an exception). */
void report_failure(const char *name, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The trailer; the last machine line of a boot. Decides the status from what happened. */
enum run_status report_end(bool refused);

/* True once the trailer has been written. */
bool report_ended(void);

/*
 * Suspends as the case of a benchmark: to which state, what is recorded of each core, and what is
 * counted, by the image and by firmware (PSCI_STAT).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "el1bench/benchmark.h"
#include "el1bench/cpu.h"
#include "el1bench/idle_states.h"
#include "sleeper.h"

enum suspend_row {
	SUSPEND_RESUME,
	SUSPEND_WAKE,
	SUSPEND_TO_C,
	SUSPEND_INLINE,
	SUSPEND_STAMPS, /* and those after it, as in stamps.h */
	SUSPEND_ARRIVAL = SUSPEND_STAMPS + STAMP_METRICS,
	SUSPEND_ROWS
};

struct suspend_core {
	struct sample_row *rows[SUSPEND_ROWS]; /* NULL: it has no such row */
	struct benchmark_counts counts;
};

struct suspend_case {
	struct sleep_order order;
	uint64_t window;                    /* of a sweep, ticks */
	struct suspend_core cores[CPU_MAX]; /* by online position */
	uint32_t core_state; /* what a core is in where its cluster stays on; 0: no other */
	bool sweeps;         /* the wake-up comes on the way into the state (wake_sweep.h) */
	bool tried;          /* the state has been good once */
	bool counting;
};

/*
 * Finds the state of a kind, `sweeps` being set, and whether it can be measured here; false after
 * benchmark_skip. Core 0, not timed.
 */
bool suspend_case_prepare(struct benchmark_run *run, struct suspend_case *suspends,
			  enum idle_kind kind);

/*
 * Opens the rows of a core, SUSPEND_ROWS at most, and its counts; false after benchmark_fail.
 * `together`: it suspends side by side with others.
 */
bool suspend_case_open(struct benchmark_run *run, struct suspend_case *suspends, uint32_t position,
		       bool together);

/* Draws the length of the next sleep. Core 0, timed code, as all below. */
void suspend_case_draw(struct benchmark_run *run, struct suspend_case *suspends);

/* Before the sleeps of each sample: sees to it that firmware's counts are of those that count. */
void suspend_case_count(struct suspend_case *suspends);

/*
 * Whether a core came back, and in the right way; `sleeper` is NULL if it did not. False after
 * benchmark_fail or benchmark_skip.
 */
bool suspend_case_check(struct benchmark_run *run, const struct suspend_case *suspends,
			uint32_t position, const struct sleeper *sleeper);

/* The same and, if it is so, takes down how it slept; its place is among those in psci_called. */
bool suspend_case_record(struct benchmark_run *run, struct suspend_case *suspends,
			 uint32_t position, const struct sleeper *sleeper);

/*
 * After the last sample: firmware must have counted as many entries as there were sleeps; if not,
 * benchmark_fail.
 */
void suspend_case_finish(struct benchmark_run *run, struct suspend_case *suspends);

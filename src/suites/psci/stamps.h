/*
 * Firmware's own view of a call, where it offers one: its stamps, and TF-A's figures made of them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "el1bench/benchmark.h"
#include "el1bench/pmf.h"

struct stamps {
	bool complete;
	uint64_t at[PMF_STAMPS];
};

enum stamp_metric { STAMP_POWERDOWN, STAMP_WAKEUP, STAMP_CACHE_FLUSH, STAMP_METRICS };

/* Reads the calling core's stamps. Timed code. */
void stamps_read(struct stamps *stamps);

/*
 * Opens the rows of a core, if firmware has stamps; false after benchmark_fail. Without `flushes`
 * there is none for the cache flush.
 */
bool stamps_open(struct benchmark_run *run, struct sample_row *rows[STAMP_METRICS], int32_t cpu,
		 bool flushes);

/*
 * Records powerdown, wakeup and cache flush; rows may be NULL. Stamps that are out of order, or not
 * between `begin` and `end` (ticks), are of some other call: excluded as stale, and false.
 * Timed code.
 */
bool stamps_record(struct sample_row *const rows[STAMP_METRICS], const struct stamps *stamps,
		   uint64_t begin, uint64_t end);

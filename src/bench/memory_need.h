/*
 * The arena's share of the report: what reporting takes after timing has ended, so that planning
 * can refuse what would not fit.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "el1bench/sample_code.h"
#include "el1bench/statistics.h"

#define MEMORY_NEED_ROUNDING 64 /* the arena hands out multiples of this */
#define MEMORY_NEED_TAKES 8     /* pieces that the report takes, at most */

/* Bytes for the statistics of `rows` rows and for coding one row of `samples` samples. */
static inline size_t memory_need_report(uint32_t rows, uint32_t samples)
{
	return rows * sizeof(struct statistics) + (size_t)samples * 2 * sizeof(uint64_t) +
	       SAMPLE_CODE_TABLE_BYTES(samples) + samples * sizeof(struct sample_code_leaf) +
	       (size_t)MEMORY_NEED_TAKES * MEMORY_NEED_ROUNDING;
}

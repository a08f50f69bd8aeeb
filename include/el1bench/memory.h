/*
 * Free RAM, as the device tree tells it. No hardware access; runs on a host too.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define MEMORY_PAGE_BYTES 4096U

struct memory_range {
	uint64_t start; /* physical */
	uint64_t bytes;
};

/*
 * Fills `ranges` (up to `capacity`) with whole pages of RAM that nobody else uses, largest first,
 * and returns how many there are. RAM is what the okay memory nodes describe; taken out are
 * /memreserve/ entries, fixed children of /reserved-memory, the initrd that /chosen names, and
 * `taken_count` ranges in `taken`. An entry that is empty or wraps around is dropped.
 */
uint32_t memory_free_ranges(const void *tree, const struct memory_range *taken,
			    uint32_t taken_count, struct memory_range *ranges, uint32_t capacity);

/* What /chosen names as the initrd; false if it names none. `range` is empty then. */
bool memory_initrd(const void *tree, struct memory_range *range);

/*
 * Cache maintenance by virtual address to the point of coherency, for what a core with its caches
 * off is going to read. Any core, EL1, MMU on. Line size from CTR_EL0.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Writes dirty lines of [start, start + bytes) back; ends with DSB SY. */
void cache_clean(const volatile void *start, size_t bytes);

/* Writes back and drops the lines; ends with DSB SY. Timed code may call it. */
void cache_clean_invalidate(const volatile void *start, size_t bytes);

struct cache_level {
	uint8_t level; /* 1 to 7 */
	char type;     /* 'I', 'D' or 'U' (unified) */
	uint16_t line_bytes;
	uint32_t ways;
	uint32_t sets;
	uint32_t bytes;
};

/*
 * Describes up to `capacity` caches of the calling core from CLIDR_EL1 and CCSIDR_EL1 (with
 * FEAT_CCIDX's layout where present); returns how many there are, at most `capacity`.
 */
size_t cache_describe(struct cache_level *levels, size_t capacity);

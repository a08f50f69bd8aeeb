/*
 * Cache maintenance by address, and what the caches are (el1bench/cache.h). Maintenance by set and
 * way is for power-down code alone and is never used.
 */
#include "el1bench/cache.h"

#include <stdbool.h>

#include "el1bench/barrier.h"
#include "el1bench/sysreg.h"
#include "el1bench/timed.h"

#define CACHE_LEVELS 7U

/* Kinds of cache in CLIDR_EL1.Ctype<n>. */
#define CTYPE_INSTRUCTION 1U
#define CTYPE_DATA 2U
#define CTYPE_SEPARATE 3U
#define CTYPE_UNIFIED 4U

/* The smallest data cache line in bytes: CTR_EL0.DminLine is log2 of its 32-bit words. */
TIMED_INLINE uint64_t line_bytes(void)
{
	return UINT64_C(4) << ((SYSREG_READ(ctr_el0) >> 16) & 0xf);
}

void cache_clean(const volatile void *start, size_t bytes)
{
	uint64_t line = line_bytes();
	uint64_t end = (uint64_t)start + bytes;

	for (uint64_t at = (uint64_t)start & ~(line - 1); at < end; at += line) {
		__asm__ volatile("dc cvac, %0" : : "r"(at) : "memory");
	}
	dsb_sy();
}

TIMED void cache_clean_invalidate(const volatile void *start, size_t bytes)
{
	uint64_t line = line_bytes();
	uint64_t end = (uint64_t)start + bytes;

	for (uint64_t at = (uint64_t)start & ~(line - 1); at < end; at += line) {
		__asm__ volatile("dc civac, %0" : : "r"(at) : "memory");
	}
	dsb_sy();
}

UNTIMED static struct cache_level describe(unsigned int level, bool instruction, char type)
{
	uint64_t size;
	struct cache_level cache = {.level = (uint8_t)level, .type = type};

	SYSREG_WRITE(csselr_el1, (level - 1) << 1 | (instruction ? 1U : 0U));
	isb();
	size = SYSREG_READ(ccsidr_el1);
	cache.line_bytes = (uint16_t)(16U << (size & 7));
	/* FEAT_CCIDX (ID_AA64MMFR2_EL1.CCIDX, bits 23:20) has wider fields. */
	if (((SYSREG_READ(S3_0_C0_C7_2) >> 20) & 0xf) != 0) {
		cache.ways = (uint32_t)((size >> 3) & 0x1fffff) + 1;
		cache.sets = (uint32_t)((size >> 32) & 0xffffff) + 1;
	} else {
		cache.ways = (uint32_t)((size >> 3) & 0x3ff) + 1;
		cache.sets = (uint32_t)((size >> 13) & 0x7fff) + 1;
	}
	cache.bytes = cache.line_bytes * cache.ways * cache.sets;
	return cache;
}

UNTIMED size_t cache_describe(struct cache_level *levels, size_t capacity)
{
	uint64_t clidr = SYSREG_READ(clidr_el1);
	size_t count = 0;

	for (unsigned int level = 1; level <= CACHE_LEVELS; level++) {
		unsigned int kind = (unsigned int)(clidr >> (3 * (level - 1))) & 7;

		if (kind == 0) {
			break;
		}
		if ((kind == CTYPE_INSTRUCTION || kind == CTYPE_SEPARATE) && count < capacity) {
			levels[count++] = describe(level, true, 'I');
		}
		if ((kind == CTYPE_DATA || kind == CTYPE_SEPARATE) && count < capacity) {
			levels[count++] = describe(level, false, 'D');
		}
		if (kind == CTYPE_UNIFIED && count < capacity) {
			levels[count++] = describe(level, false, 'U');
		}
	}
	return count;
}

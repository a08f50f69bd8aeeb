/*
 * Fills the translation tables. Runs on core 0, also before the MMU is on, where memory is Device
 * memory: each access is one aligned, volatile 64-bit access, and libc is not called.
 */
#include "mmu_tables.h"

#include <stddef.h>

#include "el1bench/barrier.h"

#define DESCRIPTOR_VALID UINT64_C(1)
#define DESCRIPTOR_TABLE UINT64_C(2) /* in levels 0 to 2: a table, not a block */
#define DESCRIPTOR_PAGE UINT64_C(3)  /* in level 3 */
#define DESCRIPTOR_ADDRESS UINT64_C(0x0000fffffffff000)

#define LEVEL_SHIFT(level) (39U - 9U * (level))
#define ENTRIES (MMU_TABLE_BYTES / 8)

uint64_t mmu_tables[MMU_TABLE_COUNT][ENTRIES]
	__attribute__((section(".sbss.page_tables"), aligned(MMU_TABLE_BYTES)));

static struct {
	uint64_t physical; /* of mmu_tables */
	uint64_t used;
} pool;

/* Where this core reaches the pool now, minus its physical address: 0 before the MMU is on. */
static uint64_t pool_offset(void)
{
	return (uint64_t)mmu_tables - pool.physical;
}

static volatile uint64_t *table_take(void)
{
	volatile uint64_t *table;

	if (pool.used == MMU_TABLE_COUNT) {
		return NULL;
	}
	table = mmu_tables[pool.used++];
	for (size_t i = 0; i < ENTRIES; i++) {
		table[i] = 0;
	}
	/* A walk that sees the new table must see it cleared. */
	dsb_ishst();
	return table;
}

void mmu_tables_start(void)
{
	pool.physical = (uint64_t)mmu_tables;
	pool.used = 0;
	(void)table_take(); /* MMU_ROOT_HIGH */
	(void)table_take(); /* MMU_ROOT_IDENTITY */
}

static volatile uint64_t *table_below(uint64_t descriptor)
{
	return (volatile uint64_t *)((descriptor & DESCRIPTOR_ADDRESS) + pool_offset());
}

static bool is_table(uint64_t descriptor, unsigned int level)
{
	return level < 3 && (descriptor & DESCRIPTOR_TABLE) != 0;
}

/*
 * Maps the start of the range, as much as one entry covers; returns the bytes that are done, or 0
 * if that fails.
 */
static uint64_t map_entry(unsigned int root, uint64_t address, uint64_t physical, uint64_t bytes,
			  uint64_t attributes, enum mmu_blocks blocks)
{
	volatile uint64_t *table = mmu_tables[root];

	for (unsigned int level = 0;; level++) {
		uint64_t covers = UINT64_C(1) << LEVEL_SHIFT(level);
		volatile uint64_t *entry = &table[(address >> LEVEL_SHIFT(level)) % ENTRIES];
		uint64_t descriptor = *entry;
		uint64_t rest = covers - address % covers;

		if ((descriptor & DESCRIPTOR_VALID) == 0) {
			if (level == 3) {
				*entry = physical | attributes | DESCRIPTOR_PAGE;
				return covers;
			}
			if (blocks == MMU_WITH_BLOCKS && level >= 1 && bytes >= covers &&
			    (address | physical) % covers == 0) {
				*entry = physical | attributes | DESCRIPTOR_VALID;
				return covers;
			}
			table = table_take();
			if (table == NULL) {
				return 0;
			}
			*entry = ((uint64_t)table - pool_offset()) | DESCRIPTOR_TABLE |
				 DESCRIPTOR_VALID;
		} else if (is_table(descriptor, level)) {
			table = table_below(descriptor);
		} else {
			uint64_t type = level == 3 ? DESCRIPTOR_PAGE : DESCRIPTOR_VALID;
			uint64_t wanted = (physical - address % covers) | attributes | type;

			return descriptor != wanted ? 0 : rest < bytes ? rest : bytes;
		}
	}
}

bool mmu_tables_map(unsigned int root, uint64_t address, uint64_t physical, uint64_t bytes,
		    uint64_t attributes, enum mmu_blocks blocks)
{
	while (bytes != 0) {
		uint64_t done = map_entry(root, address, physical, bytes, attributes, blocks);

		if (done == 0) {
			return false;
		}
		address += done;
		physical += done;
		bytes -= done;
	}
	return true;
}

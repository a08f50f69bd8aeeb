/*
 * Translation tables of processes (D8.2 and D8.3 of the Arm ARM). Entries only ever change from
 * invalid to valid while an ASID is in use, and all of an ASID's translations are dropped before it
 * is used again, so nothing else needs a TLB invalidation.
 */
#include "el1bench/address_space.h"

#include <stddef.h>

#include "../arch/mmu_tables.h"
#include "el1bench/barrier.h"
#include "el1bench/elf.h"
#include "el1bench/mmu.h"
#include "el1bench/sysreg.h"
#include "el1bench/timed.h"

#define DESCRIPTOR_TABLE UINT64_C(3)
#define DESCRIPTOR_PAGE UINT64_C(3)
#define DESCRIPTOR_ADDRESS UINT64_C(0x0000fffffffff000)
#define EL0_ACCESS (UINT64_C(1) << 6) /* AP[1] */
#define NOT_GLOBAL (UINT64_C(1) << 11)
#define USER_PAGE (MMU_NORMAL | MMU_EL1_NO_EXECUTE | EL0_ACCESS | NOT_GLOBAL | DESCRIPTOR_PAGE)

#define LEVELS 4U
#define LEVEL_SHIFT(level) (39U - 9U * (level))
#define ENTRIES 512U
#define ASID_SHIFT 48U

/* CTR_EL0 */
#define CTR_DMIN_SHIFT 16U
#define CTR_IDC (UINT64_C(1) << 28) /* instructions need no data cache clean */
#define CTR_DIC (UINT64_C(1) << 29) /* ... and no instruction cache invalidation */

static uint8_t free_asids[ADDRESS_SPACE_ASIDS];
static uint32_t free_asid_count;
static struct page_chain empty_pages;
static uint64_t empty_ttbr;

/* Pages lie in the linear window. */
TIMED_INLINE uint64_t physical(const void *page)
{
	return (uint64_t)page - LINEAR_VA;
}

TIMED void page_clear(void *page)
{
	uint8_t *at = page;
	uint8_t *end = at + PAGE_BYTES;

	do {
		__asm__ volatile("stp xzr, xzr, [%0], #64\n\t"
				 "stp xzr, xzr, [%0, #-48]\n\t"
				 "stp xzr, xzr, [%0, #-32]\n\t"
				 "stp xzr, xzr, [%0, #-16]"
				 : "+r"(at)
				 :
				 : "memory");
	} while (at != end);
}

TIMED void page_copy(void *page, const void *source, uint64_t bytes)
{
	uint8_t *to = page;
	const uint8_t *from = source;

	for (; bytes >= 16; bytes -= 16) {
		uint64_t low;
		uint64_t high;

		__asm__ volatile("ldp %0, %1, [%3], #16\n\t"
				 "stp %0, %1, [%2], #16"
				 : "=&r"(low), "=&r"(high), "+r"(to), "+r"(from)
				 :
				 : "memory");
	}
	for (; bytes != 0; bytes--) {
		*(volatile uint8_t *)to++ = *from++;
	}
}

TIMED void page_sync_code(void *page)
{
	uint64_t ctr = SYSREG_READ(ctr_el0);
	uint64_t line;

	if ((ctr & CTR_IDC) == 0) {
		line = UINT64_C(4) << (ctr >> CTR_DMIN_SHIFT & 0xf);
		for (uint64_t at = 0; at < PAGE_BYTES; at += line) {
			__asm__ volatile("dc cvau, %0" : : "r"((uint8_t *)page + at) : "memory");
		}
	}
	dsb_ish();
	if ((ctr & CTR_DIC) == 0) {
		/* All of it: by address, a cache with virtual indices could miss the alias. */
		__asm__ volatile("ic ialluis" : : : "memory");
		dsb_ish();
	}
	isb();
}

bool address_space_start(void)
{
	void *page = page_take(&empty_pages);

	if (page == NULL) {
		return false;
	}
	page_clear(page);
	empty_ttbr = physical(page);
	free_asid_count = 0;
	for (uint32_t asid = ADDRESS_SPACE_ASIDS; asid > 0; asid--) {
		free_asids[free_asid_count++] = (uint8_t)asid;
	}
	return true;
}

TIMED static uint64_t *take_table(struct address_space *space)
{
	void *page = page_take(&space->pages);

	if (page != NULL) {
		page_clear(page);
	}
	return page;
}

TIMED bool address_space_create(struct address_space *space)
{
	uint64_t asid;

	space->pages.first = 0;
	space->pages.last = 0;
	space->pages.count = 0;
	if (free_asid_count == 0) {
		return false;
	}
	space->root = take_table(space);
	if (space->root == NULL) {
		return false;
	}
	asid = free_asids[--free_asid_count];
	space->ttbr = physical(space->root) | asid << ASID_SHIFT;
	return true;
}

TIMED void *address_space_map(struct address_space *space, uint64_t address, uint32_t flags)
{
	uint64_t attributes = USER_PAGE;
	uint64_t *table = space->root;
	void *page;

	for (uint32_t level = 0; level < LEVELS - 1; level++) {
		uint64_t *entry = &table[address >> LEVEL_SHIFT(level) & (ENTRIES - 1)];

		if (*entry == 0) {
			table = take_table(space);
			if (table == NULL) {
				return NULL;
			}
			*entry = physical(table) | DESCRIPTOR_TABLE;
		} else {
			table = (uint64_t *)(LINEAR_VA + (*entry & DESCRIPTOR_ADDRESS));
		}
	}
	page = page_take(&space->pages);
	if (page == NULL) {
		return NULL;
	}
	if ((flags & ELF_WRITE) == 0) {
		attributes |= MMU_READ_ONLY;
	}
	if ((flags & ELF_EXECUTE) == 0) {
		attributes |= MMU_EL0_NO_EXECUTE;
	}
	table[address >> LEVEL_SHIFT(LEVELS - 1) & (ENTRIES - 1)] = physical(page) | attributes;
	return page;
}

/* The tables are read by walks from here on: their stores come first. */
TIMED void address_space_switch(const struct address_space *space)
{
	dsb_ishst();
	SYSREG_WRITE(ttbr0_el1, space == NULL ? empty_ttbr : space->ttbr);
	isb();
}

TIMED void address_space_invalidate(const struct address_space *space)
{
	__asm__ volatile("tlbi aside1is, %0" : : "r"(space->ttbr >> ASID_SHIFT << ASID_SHIFT));
	dsb_ish();
}

TIMED void address_space_destroy(struct address_space *space)
{
	address_space_invalidate(space);
	free_asids[free_asid_count++] = (uint8_t)(space->ttbr >> ASID_SHIFT);
	pages_give_back(&space->pages);
}

TIMED uint32_t address_space_asids_free(void)
{
	return free_asid_count;
}

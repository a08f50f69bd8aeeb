/*
 * The linear window and the physical addresses behind pointers (el1bench/mmu.h).
 */
#include "el1bench/mmu.h"

#include "el1bench/barrier.h"
#include "el1bench/sysreg.h"
#include "mmu_tables.h"

/* The window ends where the image's own addresses begin. */
#define LINEAR_ADDRESS_BITS 47U

#define TCR_EPD0 (UINT64_C(1) << 7)

extern const char image_start[], image_end[];
extern const char secondary_entry[];

struct boot_record boot_record;

/* One past the highest physical address: the core's limit (PARange) or the window's. */
static uint64_t physical_limit(void)
{
	static const uint8_t bits[] = {32, 36, 40, 42, 44};
	uint64_t range = SYSREG_READ(id_aa64mmfr0_el1) & 0xf;
	unsigned int width = range < sizeof(bits) ? bits[range] : LINEAR_ADDRESS_BITS;

	return UINT64_C(1) << width;
}

/* Widens [*start, *start + *bytes) to whole pages; false if it is empty, wraps or lies too high. */
static bool whole_pages(uint64_t *start, uint64_t *bytes)
{
	uint64_t limit = physical_limit();
	uint64_t first = *start & ~(MMU_PAGE_BYTES - 1);
	uint64_t end;

	if (*bytes == 0 || *start >= limit || *bytes > limit - *start) {
		return false;
	}
	end = (*start + *bytes + MMU_PAGE_BYTES - 1) & ~(MMU_PAGE_BYTES - 1);
	*start = first;
	*bytes = end - first;
	return true;
}

void *mmu_map(uint64_t physical, uint64_t bytes, enum mmu_kind kind)
{
	static const uint64_t attributes[] = {
		[MMU_MEMORY] = MMU_DATA_PAGE,
		[MMU_MEMORY_READ_ONLY] = MMU_CONSTANT_PAGE,
		[MMU_DEVICE] = MMU_DEVICE_PAGE,
	};
	uint64_t start = physical;
	bool mapped;

	if (!whole_pages(&start, &bytes)) {
		return NULL;
	}
	/* The window must not become a second, writable way to the image's code. */
	if (kind != MMU_MEMORY_READ_ONLY && start < mmu_image_end() &&
	    start + bytes > mmu_image_start()) {
		return NULL;
	}
	/* Entries only ever change from invalid to valid here, so no TLB holds anything to drop. */
	mapped = mmu_tables_map(MMU_ROOT_HIGH, LINEAR_VA + start, start, bytes, attributes[kind],
				MMU_WITH_BLOCKS);
	dsb_ish();
	isb();
	return mapped ? (void *)(LINEAR_VA + physical) : NULL;
}

uint64_t mmu_physical(const volatile void *virtual_address)
{
	uint64_t address = (uint64_t)virtual_address;

	if (address >= IMAGE_VA) {
		return address - IMAGE_VA + boot_record.image_address;
	}
	return address - LINEAR_VA;
}

uint64_t mmu_image_start(void)
{
	return boot_record.image_address;
}

uint64_t mmu_image_end(void)
{
	return mmu_physical(image_end);
}

uint64_t mmu_secondary_entry(void)
{
	return mmu_physical(secondary_entry);
}

void mmu_identity_off(void)
{
	SYSREG_WRITE(tcr_el1, SYSREG_READ(tcr_el1) | TCR_EPD0);
	isb();
	__asm__ volatile("tlbi vmalle1" : : : "memory");
	__asm__ volatile("dsb nsh" : : : "memory");
	isb();
}

/*
 * Address spaces of the image. It is linked at IMAGE_VA and runs there once the MMU is on, wherever
 * it was loaded; everything else (devices, memory, trees) is mapped on demand into a linear window
 * at LINEAR_VA + physical address. 4 KiB granule, 48-bit addresses, TTBR1. Code is never writable,
 * data never executable, and each stack has a guard page below it.
 */
#pragma once

#define IMAGE_VA 0xffff800000000000
#define LINEAR_VA 0xffff000000000000

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mmu_kind {
	MMU_MEMORY,           /* Normal write-back, inner shareable, read and write */
	MMU_MEMORY_READ_ONLY, /* the same, read only */
	MMU_DEVICE,           /* Device-nGnRE, read and write */
};

/* How the core that booted came in; filled by the entry code before the MMU is on. */
struct boot_record {
	uint64_t x0; /* as the image was entered */
	uint64_t x1;
	uint64_t load_address;  /* physical address at which the loader put the file */
	uint64_t image_address; /* of the image's first byte: the same, or where it was unpacked */
	uint64_t entry_stamp;   /* CNTPCT at the first instruction, ticks */
	uint32_t entry_el;      /* 1, 2 or 3 */
	uint32_t entry_mmu_on;  /* 1 if SCTLR.M was set at entry (U-Boot's `go`) */
};

extern struct boot_record boot_record;

/*
 * Maps [physical, physical + bytes), widened to whole pages, and returns the virtual address of
 * `physical`; NULL if the range is empty, wraps, exceeds the core's physical address size or 47
 * bits, is already mapped as another kind, is part of the image and not asked for as read only, or
 * the table pool is used up; part of it may be mapped then. Mapping a range twice as the same kind
 * is fine. Core 0 only, before the other cores start or while they idle.
 */
void *mmu_map(uint64_t physical, uint64_t bytes, enum mmu_kind kind);

/* The physical address behind a pointer into the image or the linear window. Any core. */
uint64_t mmu_physical(const volatile void *virtual_address);

/* Lowest and one past the highest physical byte that the image, its bss and stacks occupy. */
uint64_t mmu_image_start(void);
uint64_t mmu_image_end(void);

/* Physical address at which a secondary core is to be started through CPU_ON. */
uint64_t mmu_secondary_entry(void);

/*
 * Removes the identity map that served to turn the MMU on, on the calling core: TTBR0 walks are
 * off afterwards (TCR_EL1.EPD0). Called by the entry code's C half on each core.
 */
void mmu_identity_off(void);

#endif

/*
 * The translation tables (4 KiB granule, stage 1): a static pool and the one function that fills
 * them. Both work before the MMU is on, at physical addresses, and afterwards; core 0 only.
 */
#pragma once

#define MMU_TABLE_BYTES 4096
#define MMU_TABLE_COUNT 66
#define MMU_TABLES_BYTES (MMU_TABLE_COUNT * MMU_TABLE_BYTES)

/* Tables with a fixed place in the pool: the roots for TTBR1 and TTBR0. */
#define MMU_ROOT_HIGH 0
#define MMU_ROOT_IDENTITY 1

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stdint.h>

#define MMU_PAGE_BYTES UINT64_C(4096)

/* Descriptor attributes (D8.3 of the Arm ARM); the indices are MAIR_EL1's, src/boot/el1.S. */
#define MMU_INDEX_DEVICE (UINT64_C(0) << 2)
#define MMU_INDEX_NORMAL (UINT64_C(1) << 2)
#define MMU_READ_ONLY (UINT64_C(1) << 7)
#define MMU_INNER_SHAREABLE (UINT64_C(3) << 8)
#define MMU_ACCESSED (UINT64_C(1) << 10)
#define MMU_EL1_NO_EXECUTE (UINT64_C(1) << 53)
#define MMU_EL0_NO_EXECUTE (UINT64_C(1) << 54)

#define MMU_NORMAL (MMU_INDEX_NORMAL | MMU_INNER_SHAREABLE | MMU_ACCESSED)
#define MMU_NO_EXECUTE (MMU_EL1_NO_EXECUTE | MMU_EL0_NO_EXECUTE)

#define MMU_CODE_PAGE (MMU_NORMAL | MMU_READ_ONLY | MMU_EL0_NO_EXECUTE)
#define MMU_CONSTANT_PAGE (MMU_NORMAL | MMU_READ_ONLY | MMU_NO_EXECUTE)
#define MMU_DATA_PAGE (MMU_NORMAL | MMU_NO_EXECUTE)
#define MMU_DEVICE_PAGE (MMU_INDEX_DEVICE | MMU_ACCESSED | MMU_NO_EXECUTE)

enum mmu_blocks { MMU_PAGES_ONLY, MMU_WITH_BLOCKS };

/* The pool; tables that are not roots are handed out in order and never given back. */
extern uint64_t mmu_tables[MMU_TABLE_COUNT][MMU_TABLE_BYTES / 8];

/* Empties the pool but for two cleared roots. MMU off. */
void mmu_tables_start(void);

/*
 * Maps [address, address + bytes) to `physical` under root table `root`, all multiples of
 * MMU_PAGE_BYTES and at least one page, with 1 GiB and 2 MiB blocks where `blocks` allows it. What
 * is mapped already must be mapped alike. False on a conflict or if the pool is used up; what was
 * mapped up to there stays. The caller makes new entries visible: DSB, ISB.
 */
bool mmu_tables_map(unsigned int root, uint64_t address, uint64_t physical, uint64_t bytes,
		    uint64_t attributes, enum mmu_blocks blocks);

#endif

/*
 * Where src/boot hands a core over to C: EL1, MMU on, own stack, TPIDR_EL1 and vectors set, D, A, I
 * and F masked.
 */
#pragma once

#include <stdint.h>

/*
 * The core that booted. x0, x1 as at entry; `stamp` in ticks; `image_address` is physical, and so
 * is `load_address`, of the file that was loaded.
 */
void boot_primary(uint64_t x0, uint64_t x1, uint64_t stamp, uint64_t entry_el, uint64_t mmu_on,
		  uint64_t image_address, uint64_t load_address) __attribute__((noreturn));

/* Each other core; `index` below CPU_MAX. */
void boot_secondary(uint64_t index, uint64_t stamp, uint64_t entry_el) __attribute__((noreturn));

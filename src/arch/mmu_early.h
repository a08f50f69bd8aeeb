/*
 * The first translation tables, made before the MMU is on.
 */
#pragma once

#include <stdint.h>

/*
 * Makes the tables that map the image at IMAGE_VA, each part with its rights, and the identity map
 * of the boot code. Core 0, EL1, MMU off, on core 0's stack; `image` is the physical address of
 * the image.
 */
void mmu_early_build(uint64_t image);

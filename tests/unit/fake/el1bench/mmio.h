/*
 * Stands in for include/el1bench/mmio.h in host tests: each test brings a register model that
 * defines these four.
 */
#pragma once

#include <stdint.h>

uint32_t read32(const volatile void *base, uint32_t offset);
void write32(volatile void *base, uint32_t offset, uint32_t value);
uint64_t read64(const volatile void *base, uint32_t offset);
void write64(volatile void *base, uint32_t offset, uint64_t value);

/*
 * Device registers: one access of exactly the width asked for, in program order with other volatile
 * accesses. The instruction is written out, so that the compiler can neither merge nor split an
 * access nor pick an addressing mode with write-back, which a hypervisor that emulates the device
 * cannot decode. Addresses are naturally aligned and mapped as MMU_DEVICE. Any core, EL1.
 */
#pragma once

#include <stdint.h>

#define MMIO_INLINE static inline __attribute__((always_inline))

/* Returns the 32-bit register `offset` bytes above `base`. */
MMIO_INLINE uint32_t read32(const volatile void *base, uint32_t offset)
{
	const volatile uint32_t *address =
		(const volatile uint32_t *)((const volatile uint8_t *)base + offset);
	uint32_t value;

	__asm__ volatile("ldr %w0, %1" : "=r"(value) : "Qo"(*address) : "memory");
	return value;
}

/* Writes the 32-bit register `offset` bytes above `base`. */
MMIO_INLINE void write32(volatile void *base, uint32_t offset, uint32_t value)
{
	volatile uint32_t *address = (volatile uint32_t *)((volatile uint8_t *)base + offset);

	__asm__ volatile("str %w1, %0" : "=Qo"(*address) : "rZ"(value) : "memory");
}

/* Returns the 64-bit register `offset` bytes above `base`. */
MMIO_INLINE uint64_t read64(const volatile void *base, uint32_t offset)
{
	const volatile uint64_t *address =
		(const volatile uint64_t *)((const volatile uint8_t *)base + offset);
	uint64_t value;

	__asm__ volatile("ldr %0, %1" : "=r"(value) : "Qo"(*address) : "memory");
	return value;
}

/* Writes the 64-bit register `offset` bytes above `base`. */
MMIO_INLINE void write64(volatile void *base, uint32_t offset, uint64_t value)
{
	volatile uint64_t *address = (volatile uint64_t *)((volatile uint8_t *)base + offset);

	__asm__ volatile("str %x1, %0" : "=Qo"(*address) : "rZ"(value) : "memory");
}

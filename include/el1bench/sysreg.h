/*
 * Typed access to system registers. `SYSREG_READ(midr_el1)` reads once, in program order with other
 * volatile accesses; the `memory` clobber keeps the compiler from moving plain accesses across it.
 * Registers that the assembler may not know are given by encoding, e.g. `S3_0_C12_C12_0`.
 */
#pragma once

#include <stdint.h>

#define SYSREG_READ(name)                                                                          \
	({                                                                                         \
		uint64_t sysreg_value_;                                                            \
		__asm__ volatile("mrs %0, " #name : "=r"(sysreg_value_) : : "memory");             \
		sysreg_value_;                                                                     \
	})

#define SYSREG_WRITE(name, value)                                                                  \
	__asm__ volatile("msr " #name ", %x0" : : "rZ"((uint64_t)(value)) : "memory")

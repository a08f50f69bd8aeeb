/*
 * What EL0 programs share: system calls and the counter.
 */
#pragma once

#include <stdint.h>

#include "el1bench/system_calls.h"

#define PROGRAM_INLINE static inline __attribute__((always_inline))

/* A system call with up to two arguments; returns x0. x1 to x4 may change. */
PROGRAM_INLINE uint64_t system_call(enum system_call number, uint64_t a, uint64_t b)
{
	register uint64_t x0 __asm__("x0") = a;
	register uint64_t x1 __asm__("x1") = b;
	register uint64_t x8 __asm__("x8") = number;

	__asm__ volatile("svc #0" : "+r"(x0), "+r"(x1) : "r"(x8) : "x2", "x3", "x4", "memory");
	return x0;
}

/* As counter_begin(), at EL0. */
PROGRAM_INLINE uint64_t program_counter(void)
{
	uint64_t ticks;

	__asm__ volatile("isb\n\tmrs %0, cntpct_el0" : "=r"(ticks) : : "memory");
	return ticks;
}

void program_main(uint64_t count, const uint64_t *arguments, uint64_t stamp)
	__attribute__((noreturn));

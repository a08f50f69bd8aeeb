/*
 * What each core knows of itself. TPIDR_EL1 points at the core's `struct cpu` from the moment its
 * MMU is on. The index is handed to a core through PSCI's context_id and never computed from MPIDR.
 */
#pragma once

#define CPU_MAX 64

/* Byte offsets that assembly uses; cpu.c asserts them against the structure. */
#define CPU_OFFSET_EMERGENCY_STACK 0
#define CPU_OFFSET_INDEX 8
#define CPU_OFFSET_SPURIOUS 12

#define CPU_STACK_BYTES 16384          /* a core's own stack; a guard page lies below it */
#define CPU_EMERGENCY_STACK_BYTES 4096 /* for exceptions, so that a stack overflow can be told */

#ifndef __ASSEMBLER__

#include <stdint.h>

#include "el1bench/sysreg.h"

struct cpu {
	uint64_t emergency_stack;     /* its top: where synchronous exceptions run */
	uint32_t index;               /* 0 is the core that booted */
	uint32_t spurious_interrupts; /* acknowledged as 1020..1023, or with no handler */
	uint64_t entry_stamp;         /* CNTPCT at the core's first instruction, ticks */
	uint64_t mpidr;               /* as read on the core itself */
	uint64_t midr;
	uint64_t counter_hz;      /* the core's own CNTFRQ */
	uint32_t entry_el;        /* the exception level it was entered at: 1, 2 or 3 */
	volatile uint32_t online; /* 1 once the core takes work */
	void *handler_data;       /* for the interrupt handler of the benchmark that runs */
} __attribute__((aligned(64)));

extern struct cpu cpus[CPU_MAX];

/* The calling core's structure. EL1, MMU on. */
static inline struct cpu *cpu_current(void)
{
	uint64_t pointer;

	__asm__("mrs %0, tpidr_el1" : "=r"(pointer));
	return (struct cpu *)pointer;
}

/* The calling core's index, 0 to CPU_MAX - 1. */
static inline uint32_t cpu_index(void)
{
	return cpu_current()->index;
}

#endif

/*
 * A small firmware at EL3 for QEMU's `virt,secure=on`: what its parts share.
 */
#pragma once

/* Secure memory; the code itself runs from flash at address 0. */
#define MONITOR_RAM 0x0e000000
#define MONITOR_STACK_BYTES 4096
#define MONITOR_CORES 128 /* Aff1 * 16 + Aff0 */

/* x0 to x30, ELR_EL3, SPSR_EL3, and CNTPCT at the entry. */
#define FRAME_BYTES 272
#define FRAME_ELR 248
#define FRAME_STAMP 264

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stdint.h>

struct frame {
	uint64_t x[31];
	uint64_t elr;
	uint64_t spsr;
	uint64_t stamp;
};

/* Every core, once, on its own stack. Core 0 returns the tree's address; others never return. */
uint64_t monitor_start(uint64_t index);

/* A call from below; answers are left in the frame. */
void monitor_call(struct frame *frame);

/*
 * Leaves EL3 for `entry` at the highest level below, x0 = `argument`, as after a power-up: every
 * other register that software has to set up holds rubbish, the stack is empty.
 */
void monitor_enter(uint64_t entry, uint64_t argument) __attribute__((noreturn));

/* The same with sensible registers: a boot. */
void monitor_boot(uint64_t entry, uint64_t argument) __attribute__((noreturn));

/* The GIC, version 2 or 3. */
void gic_start(uint64_t index);
void gic_lose_state(uint64_t index, bool banked, bool interface); /* what a power-down loses */
void gic_deafen(void);         /* nothing ends this core's WFI any more */
void gic_interrupt(void);      /* an interrupt that the level below does not expect */
void gic_wake(uint64_t mpidr); /* ends that core's WFI with a secure interrupt */
void gic_take_wake(void);      /* takes it */
uint32_t gic_pending(void);    /* INTID of what is pending for the level below, or 1023 */

#endif

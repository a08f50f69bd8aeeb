/*
 * Barriers and hints, each with a `memory` clobber so that the compiler orders plain accesses too.
 * All may be used on any core at any exception level.
 */
#pragma once

#define BARRIER_ASM(text) __asm__ volatile(text : : : "memory")

static inline void isb(void)
{
	BARRIER_ASM("isb");
}

static inline void dsb_sy(void)
{
	BARRIER_ASM("dsb sy");
}

static inline void dsb_ish(void)
{
	BARRIER_ASM("dsb ish");
}

/* Completes earlier stores before later stores and device writes: stands before every SGI send. */
static inline void dsb_ishst(void)
{
	BARRIER_ASM("dsb ishst");
}

static inline void dmb_ish(void)
{
	BARRIER_ASM("dmb ish");
}

static inline void dmb_ishst(void)
{
	BARRIER_ASM("dmb ishst");
}

/* Completes earlier loads, device reads too, before later accesses. */
static inline void dmb_ishld(void)
{
	BARRIER_ASM("dmb ishld");
}

/* The polling hint: free on hardware, hands the time slice to the next core under emulation. */
static inline void cpu_yield(void)
{
	BARRIER_ASM("yield");
}

static inline void wfi(void)
{
	BARRIER_ASM("dsb sy\n\twfi");
}

/* PSTATE.I: an interrupt that is pending while masked still ends WFI. */
static inline void irq_mask(void)
{
	BARRIER_ASM("msr daifset, #2");
}

static inline void irq_unmask(void)
{
	BARRIER_ASM("msr daifclr, #2");
}

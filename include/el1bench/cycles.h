/*
 * The cycle counter of the Performance Monitors Extension, PMCCNTR_EL0 (D11 of the Arm ARM). It
 * counts cycles of one core, may stand still while that core sleeps in WFI or WFE, and is not
 * synchronised with those of other cores: both ends of an interval are read on one core. Any core,
 * EL1.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "el1bench/counter.h"
#include "el1bench/sysreg.h"

#define PMCR_E (1U << 0)  /* enable */
#define PMCR_LC (1U << 6) /* the cycle counter has 64 bits */
#define PMCNTENSET_C (1U << 31)

/* True if the calling core has a PMU whose cycle counter counts. Timed code may call it. */
bool cycles_usable(void);

/*
 * Lets the counter of the calling core count, at EL0 and EL1, without a divider. Where there is a
 * PMU; again after the core was off. Does not set the counter to anything.
 */
COUNTER_INLINE void cycles_enable(void)
{
	SYSREG_WRITE(pmccfiltr_el0, 0);
	SYSREG_WRITE(pmcntenset_el0, PMCNTENSET_C);
	SYSREG_WRITE(pmcr_el0, PMCR_E | PMCR_LC);
	__asm__ volatile("isb" : : : "memory");
}

/* Returns the counter, in cycles, ordered like a read of the physical counter (counter.h). */
COUNTER_INLINE uint64_t cycles_read(void)
{
	uint64_t cycles;

	__asm__ volatile("isb\n\tmrs %0, pmccntr_el0" : "=r"(cycles) : : "memory");
	return cycles;
}

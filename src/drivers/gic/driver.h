/*
 * What the two GIC drivers and gic.c share; private to this folder.
 */
#pragma once

#include <stdint.h>

#include "el1bench/counter.h"
#include "el1bench/cpu.h"
#include "el1bench/gic.h"
#include "el1bench/timed.h"

/*
 * What an interrupt and a send touch, in one place, so that one address leads to all of it. The
 * handlers have no empty entries: the dispatch is a load and a call.
 */
struct gic_hot {
	gic_handler handlers[GIC_INTID_COUNT];
	volatile void *cpu_interface; /* version 2 */
};

extern struct gic_hot gic_hot;

/*
 * Hides where an INTID came from, so that the compiler keeps one copy, zero-extended, for the range
 * check, the table and the handler alike.
 */
TIMED_INLINE uint64_t gic_opaque(uint64_t intid)
{
	__asm__("" : "+r"(intid));
	return intid;
}

extern const struct gic_operations gic_v2;
extern const struct gic_operations gic_v3;

#define GIC_INTID_IS_SPECIAL(intid) ((intid)-1020U < 4U) /* spurious: nothing to end */

#define GIC_SGIS_USED ((1U << GIC_SGI_COUNT) - 1U)

/*
 * The same in every byte of an IPRIORITYR: higher than any mask in use, and the same as seen by
 * non-secure software or, on a GIC without security, by anybody.
 */
#define GIC_PRIORITIES 0xa0a0a0a0U
#define GIC_PRIORITY_MASK 0xf0U /* lets through all priorities above the lowest */

#define GIC_WAIT_MS 100U /* for a register write to take effect: microseconds in practice */

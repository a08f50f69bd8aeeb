/*
 * What the two GIC drivers and gic.c share; private to this folder.
 */
#pragma once

#include <stdint.h>

#include "el1bench/counter.h"
#include "el1bench/cpu.h"
#include "el1bench/gic.h"
#include "el1bench/timed.h"
#include "hot.h"

extern const struct gic_operations gic_v2;
extern const struct gic_operations gic_v3;

#define GIC_SGIS_USED ((1U << GIC_SGI_COUNT) - 1U)

/*
 * The same in every byte of an IPRIORITYR: higher than any mask in use, and the same as seen by
 * non-secure software or, on a GIC without security, by anybody.
 */
#define GIC_PRIORITIES 0xa0a0a0a0U
#define GIC_PRIORITY_MASK 0xf0U /* lets through all priorities above the lowest */

#define GIC_WAIT_MS 100U /* for a register write to take effect: microseconds in practice */

/*
 * What an interrupt and a send touch, in one place, so that one address leads to all of it: shared
 * by the drivers and src/boot/interrupt.S.
 */
#pragma once

#include "el1bench/gic.h"

/* Offset in struct gic_hot; gic.c asserts it. */
#define GIC_HOT_CPU_INTERFACE (8 * GIC_INTID_COUNT)

#ifndef __ASSEMBLER__

#include <stdint.h>

/* The table has no empty entries: the dispatch is a load and a call. */
struct gic_hot {
	gic_handler handlers[GIC_INTID_COUNT]; /* light ones; interrupt_call for all others */
	volatile void *cpu_interface;          /* version 2 */
};

extern struct gic_hot gic_hot;

/* The handlers that interrupt_call calls. */
extern gic_handler gic_handlers[GIC_INTID_COUNT];

/* src/boot/interrupt.S: what a driver installs with exception_set_irq_entry(). */
void interrupt_v2(void);
void interrupt_v3(void);
void interrupt_v2_staged(void);
void interrupt_v3_staged(void);

/* A light handler that saves all registers around gic_handlers[intid]. */
void interrupt_call(uint32_t intid, uint32_t source, uint64_t stamp);

#endif

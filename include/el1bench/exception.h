/*
 * Exceptions at EL1. Interrupts go to the handler that the interrupt controller's driver installs;
 * everything else is fatal and goes to `panic_exception`, unless it happens inside a probe.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Where the vector stub goes on when an interrupt comes: not a C function, src/boot/interrupt.S
 * says what it finds and must do (acknowledge, dispatch, end, return from the exception). The
 * stub's first act is to read CNTPCT: the general entry stamp that every interrupt gets, in ticks.
 */
typedef void (*irq_entry_function)(void);

/*
 * Installs it for all cores. Core 0; what replaces another one takes effect on a core with the next
 * interrupt that core 0 sends it.
 */
void exception_set_irq_entry(irq_entry_function entry);

/* The registers of an interrupted context, as the vector stubs store them. */
struct exception_frame {
	uint64_t x[31];
	uint64_t sp;
	uint64_t elr;
	uint64_t spsr;
	uint64_t esr;
	uint64_t far;
	uint64_t vector; /* 0 to 15: index of the vector taken */
};

/*
 * Copies `bytes` from a mapped address that may abort when read (no memory there, an external
 * abort); false if it did, and then the destination's content is undefined. Core 0, EL1, MMU on.
 */
bool exception_probe_copy(void *destination, const void *source, size_t bytes);

/*
 * Executes a semihosting call (HLT #0xF000) that may be an undefined instruction. Returns false if
 * it was; else `*result` holds x0. Any core.
 */
bool exception_probe_semihosting(uint64_t operation, uint64_t parameter, uint64_t *result);

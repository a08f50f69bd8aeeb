/*
 * What src/boot/vectors.S, probe.S and smccc.S share with exception.c.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "el1bench/exception.h"

/* Called by the vectors for all but interrupts, on the emergency stack; returns to continue. */
void exception_dispatch(struct exception_frame *frame);

/* Goes on in panic_exception(frame) on the stack that ends at `stack_top`. */
void exception_on_stack(const struct exception_frame *frame, void *stack_top)
	__attribute__((noreturn));

/* The vector stub jumps through it when an interrupt comes. */
extern irq_entry_function exception_irq_entry;

/* probe.S */
uint32_t probe_copy(void *destination, const void *source, size_t bytes);
extern const char probe_copy_end[], probe_copy_failed[];
uint32_t probe_semihosting(uint64_t operation, uint64_t parameter, uint64_t *result);
extern const char probe_semihosting_hlt[], probe_semihosting_failed[];

/* smccc.S: the SMC and the HVC instruction. */
extern const char smccc_smc_call[], smccc_hvc_call[];

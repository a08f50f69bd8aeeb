/*
 * Running code at EL0: the saved context, and the way there and back (src/boot/el0_entry.S).
 */
#pragma once

/* Offsets for assembly; process.c asserts them. */
#define EL0_CONTEXT_SP 248
#define EL0_CONTEXT_PC 256
#define EL0_CONTEXT_PSTATE 264
#define EL0_CONTEXT_TLS 272

/* What brought the core back. */
#define EL0_SYNCHRONOUS 0 /* ESR_EL1 says what: a system call or a fault */
#define EL0_INTERRUPT 1   /* pending; it is taken once the caller unmasks interrupts */

#ifndef __ASSEMBLER__

#include <stdint.h>

struct el0_context {
	uint64_t x[31];
	uint64_t sp;
	uint64_t pc;
	uint64_t pstate; /* 0: EL0t, AArch64, nothing masked */
	uint64_t tls;    /* TPIDR_EL0 */
};

/*
 * Goes on at EL0 with the context, in the address space that the core is in, until the next
 * exception; leaves the state in the context and returns EL0_*. Interrupts are masked at the call
 * and at its return, and unmasked at EL0. Floating-point registers are not kept: their use at EL0
 * traps. Any core that `process_start_core` has set up.
 */
uint32_t el0_run(struct el0_context *context);

#endif

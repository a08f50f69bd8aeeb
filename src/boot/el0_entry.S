/*
 * To EL0 and back: el0_run() ends with an ERET, and the next exception from EL0 returns from it.
 * Nothing of the kernel's is kept anywhere but on the stack of the core, which stays where
 * el0_run() left it.
 */
#include "boot.h"

#include "el1bench/el0.h"

	.section .text.timed, "ax", %progbits

#define FRAME_BYTES 112
#define FRAME_CONTEXT 96

/*
 * el0_run: x0 = struct el0_context. Returns w0 = EL0_*, see el0.h. Clobbers what a C function may,
 * ELR_EL1, SPSR_EL1, SP_EL0 and TPIDR_EL0. EL1, MMU on, interrupts masked.
 */
function el0_run
	stp	x29, x30, [sp, #-FRAME_BYTES]!
	stp	x19, x20, [sp, #16]
	stp	x21, x22, [sp, #32]
	stp	x23, x24, [sp, #48]
	stp	x25, x26, [sp, #64]
	stp	x27, x28, [sp, #80]
	str	x0, [sp, #FRAME_CONTEXT]
	ldp	x1, x2, [x0, #EL0_CONTEXT_PC]
	msr	elr_el1, x1
	msr	spsr_el1, x2
	ldr	x1, [x0, #EL0_CONTEXT_SP]
	ldr	x2, [x0, #EL0_CONTEXT_TLS]
	msr	sp_el0, x1
	msr	tpidr_el0, x2
	ldp	x2, x3, [x0, #16]
	ldp	x4, x5, [x0, #32]
	ldp	x6, x7, [x0, #48]
	ldp	x8, x9, [x0, #64]
	ldp	x10, x11, [x0, #80]
	ldp	x12, x13, [x0, #96]
	ldp	x14, x15, [x0, #112]
	ldp	x16, x17, [x0, #128]
	ldp	x18, x19, [x0, #144]
	ldp	x20, x21, [x0, #160]
	ldp	x22, x23, [x0, #176]
	ldp	x24, x25, [x0, #192]
	ldp	x26, x27, [x0, #208]
	ldp	x28, x29, [x0, #224]
	ldr	x30, [x0, #240]
	ldp	x0, x1, [x0]
	eret
end_function el0_run

/*
 * el0_synchronous, el0_interrupt: where the vectors for exceptions from EL0 lead. All registers but
 * SP are EL0's. Return from el0_run(). EL1, MMU on, interrupts masked.
 */
function el0_interrupt
	stp	x0, x1, [sp, #-16]!
	mov	w1, #EL0_INTERRUPT
	b	1f
end_function el0_interrupt

function el0_synchronous
	stp	x0, x1, [sp, #-16]!
	mov	w1, #EL0_SYNCHRONOUS
1:	ldr	x0, [sp, #(16 + FRAME_CONTEXT)]
	stp	x2, x3, [x0, #16]
	stp	x4, x5, [x0, #32]
	stp	x6, x7, [x0, #48]
	stp	x8, x9, [x0, #64]
	stp	x10, x11, [x0, #80]
	stp	x12, x13, [x0, #96]
	stp	x14, x15, [x0, #112]
	stp	x16, x17, [x0, #128]
	stp	x18, x19, [x0, #144]
	stp	x20, x21, [x0, #160]
	stp	x22, x23, [x0, #176]
	stp	x24, x25, [x0, #192]
	stp	x26, x27, [x0, #208]
	stp	x28, x29, [x0, #224]
	str	x30, [x0, #240]
	ldp	x2, x3, [sp], #16
	stp	x2, x3, [x0]
	mrs	x2, elr_el1
	mrs	x3, spsr_el1
	stp	x2, x3, [x0, #EL0_CONTEXT_PC]
	mrs	x2, sp_el0
	mrs	x3, tpidr_el0
	str	x2, [x0, #EL0_CONTEXT_SP]
	str	x3, [x0, #EL0_CONTEXT_TLS]
	mov	w0, w1
	ldp	x27, x28, [sp, #80]
	ldp	x25, x26, [sp, #64]
	ldp	x23, x24, [sp, #48]
	ldp	x21, x22, [sp, #32]
	ldp	x19, x20, [sp, #16]
	ldp	x29, x30, [sp], #FRAME_BYTES
	ret
end_function el0_synchronous

/*
 * The exception vectors of EL1 once the MMU is on and TPIDR_EL1 points at the core's struct cpu.
 *
 * An interrupt taken at EL1 is the measured path: it runs on the interrupted stack
 * (interrupt.S). Everything else stores all registers on the core's emergency stack, so that even a
 * stack overflow can be told, and goes to exception_dispatch().
 */
#include "boot.h"

#include "../arch/exception_frame.h"

	.section .text.vectors, "ax", %progbits

	/* TPIDRRO_EL0 is nobody else's; it holds x0 until there is a place to put it. */
.macro full_slot index
	.balign	128
	msr	tpidrro_el0, x0
	mrs	x0, tpidr_el1
	ldr	x0, [x0, #CPU_OFFSET_EMERGENCY_STACK]
	sub	x0, x0, #FRAME_BYTES
	stp	x1, x2, [x0, #(FRAME_X + 8)]
	mov	x1, #\index
	b	exception_full
.endm

	/*
	 * CNTPCT is read as soon as there is a register for it, for every interrupt: taking an
	 * exception is a context synchronization event, so no ISB is needed. What goes on behind
	 * the jump depends on the interrupt controller (interrupt.S).
	 */
.macro irq_slot
	.balign	128
	stp	x2, x30, [sp, #-INTERRUPT_FRAME_BYTES]!
	mrs	x2, cntpct_el0
	ldr	x30, exception_irq_entry /* PC-relative: it lies within 1 MiB */
	br	x30
.endm

	/* Ends a stay at EL0 that el0_entry.S began. */
.macro el0_slot target
	.balign	128
	b	\target
.endm

	.balign	2048
	.global	exception_vectors
exception_vectors:
	full_slot 0                     /* EL1 with SP_EL0, which the image never uses */
	full_slot 1
	full_slot 2
	full_slot 3
	full_slot 4                     /* EL1: synchronous */
	irq_slot
	full_slot 6                     /* FIQ */
	full_slot 7                     /* SError */
	el0_slot el0_synchronous        /* EL0, AArch64 */
	el0_slot el0_interrupt
	full_slot 10
	full_slot 11
	full_slot 12                    /* EL0, AArch32, which the image never uses */
	full_slot 13
	full_slot 14
	full_slot 15

/*
 * exception_full: x0 = the frame, where x1 and x2 already are; x1 = the vector's index; x0 itself
 * in TPIDRRO_EL0. Returns from the exception if exception_dispatch() does, with what the frame
 * says.
 */
	.balign	128
exception_full:
	str	x1, [x0, #FRAME_VECTOR]
	mrs	x1, tpidrro_el0
	msr	tpidrro_el0, xzr
	str	x1, [x0, #FRAME_X]
	stp	x3, x4, [x0, #(FRAME_X + 24)]
	stp	x5, x6, [x0, #(FRAME_X + 40)]
	stp	x7, x8, [x0, #(FRAME_X + 56)]
	stp	x9, x10, [x0, #(FRAME_X + 72)]
	stp	x11, x12, [x0, #(FRAME_X + 88)]
	stp	x13, x14, [x0, #(FRAME_X + 104)]
	stp	x15, x16, [x0, #(FRAME_X + 120)]
	stp	x17, x18, [x0, #(FRAME_X + 136)]
	stp	x19, x20, [x0, #(FRAME_X + 152)]
	stp	x21, x22, [x0, #(FRAME_X + 168)]
	stp	x23, x24, [x0, #(FRAME_X + 184)]
	stp	x25, x26, [x0, #(FRAME_X + 200)]
	stp	x27, x28, [x0, #(FRAME_X + 216)]
	stp	x29, x30, [x0, #(FRAME_X + 232)]
	/* The interrupted stack pointer: SP_EL0 if the exception came from EL0 or with SP_EL0. */
	mrs	x3, spsr_el1
	mov	x1, sp
	mrs	x2, sp_el0
	tst	x3, #1
	csel	x1, x1, x2, ne
	str	x1, [x0, #FRAME_SP]
	mov	x19, sp
	mov	x20, x0
	mrs	x1, elr_el1
	stp	x1, x3, [x0, #FRAME_ELR]
	mrs	x1, esr_el1
	mrs	x2, far_el1
	stp	x1, x2, [x0, #FRAME_ESR]
	mov	sp, x0
	mov	x29, #0
	bl	exception_dispatch

	ldp	x1, x2, [x20, #FRAME_ELR]
	msr	elr_el1, x1
	msr	spsr_el1, x2
	mov	x0, x20
	mov	sp, x19
	ldp	x29, x30, [x0, #(FRAME_X + 232)]
	ldp	x27, x28, [x0, #(FRAME_X + 216)]
	ldp	x25, x26, [x0, #(FRAME_X + 200)]
	ldp	x23, x24, [x0, #(FRAME_X + 184)]
	ldp	x21, x22, [x0, #(FRAME_X + 168)]
	ldp	x19, x20, [x0, #(FRAME_X + 152)]
	ldp	x17, x18, [x0, #(FRAME_X + 136)]
	ldp	x15, x16, [x0, #(FRAME_X + 120)]
	ldp	x13, x14, [x0, #(FRAME_X + 104)]
	ldp	x11, x12, [x0, #(FRAME_X + 88)]
	ldp	x9, x10, [x0, #(FRAME_X + 72)]
	ldp	x7, x8, [x0, #(FRAME_X + 56)]
	ldp	x5, x6, [x0, #(FRAME_X + 40)]
	ldp	x3, x4, [x0, #(FRAME_X + 24)]
	ldp	x1, x2, [x0, #(FRAME_X + 8)]
	ldr	x0, [x0, #FRAME_X]
	eret

/*
 * exception_on_stack: x0 = a frame, x1 = top of a stack. Goes on in panic_exception(frame) on that
 * stack; does not return. EL1, MMU on.
 */
function exception_on_stack
	mov	sp, x1
	mov	x29, #0
	mov	x30, #0
	b	panic_exception
end_function exception_on_stack

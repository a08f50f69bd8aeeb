/*
 * What smoke.registers is made of: code whose registers are all in use while an interrupt comes.
 */
#include "boot.h"

#define FRAME 128
#define AFTER 96  /* offset in the frame: the argument */
#define X0_X1 112 /* as they are behind the interrupt, until there is a pointer */

	.section .text.timed, "ax", %progbits

	/* A value that no other register has, in its upper half too. */
.macro fill number
	movz	x\number, #(0xa000 + \number), lsl #48
	movk	x\number, #(0x1000 + \number)
.endm

/*
 * register_check: x0 = 32 doublewords for x0 to x30 and NZCV as they are behind the interrupt.
 * Fills all registers that our C code uses, unmasks interrupts, and masks them again. EL1, MMU on,
 * interrupts masked, one pending. C calling convention. x9 to x15 and x18 are stored as zero: timed
 * code has none of them.
 */
function register_check
	sub	sp, sp, #FRAME
	stp	x19, x20, [sp]
	stp	x21, x22, [sp, #16]
	stp	x23, x24, [sp, #32]
	stp	x25, x26, [sp, #48]
	stp	x27, x28, [sp, #64]
	stp	x29, x30, [sp, #80]
	str	x0, [sp, #AFTER]
	.irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 17
	fill	\number
	.endr
	.irp number, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
	fill	\number
	.endr
	cmp	x0, x0
	msr	daifclr, #2
	isb
	msr	daifset, #2
	stp	x0, x1, [sp, #X0_X1]
	ldr	x0, [sp, #AFTER]
	stp	x2, x3, [x0, #16]
	stp	x4, x5, [x0, #32]
	stp	x6, x7, [x0, #48]
	stp	x8, xzr, [x0, #64]
	stp	xzr, xzr, [x0, #80]
	stp	xzr, xzr, [x0, #96]
	stp	xzr, xzr, [x0, #112]
	stp	x16, x17, [x0, #128]
	stp	xzr, x19, [x0, #144]
	stp	x20, x21, [x0, #160]
	stp	x22, x23, [x0, #176]
	stp	x24, x25, [x0, #192]
	stp	x26, x27, [x0, #208]
	stp	x28, x29, [x0, #224]
	mrs	x1, nzcv
	stp	x30, x1, [x0, #240]
	ldp	x1, x2, [sp, #X0_X1]
	stp	x1, x2, [x0]
	ldp	x19, x20, [sp]
	ldp	x21, x22, [sp, #16]
	ldp	x23, x24, [sp, #32]
	ldp	x25, x26, [sp, #48]
	ldp	x27, x28, [sp, #64]
	ldp	x29, x30, [sp, #80]
	add	sp, sp, #FRAME
	ret
end_function register_check

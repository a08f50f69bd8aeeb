/*
 * An interrupt at EL1, from the vector to the ERET: acknowledge, dispatch, end. One entry for each
 * version of the interrupt controller; its driver installs it with exception_set_irq_entry().
 * Every interrupt takes this way, and it is the measured one, so no register is saved that need not
 * be.
 *
 * What all entries promise and need. They are jumped to by the vector's slot (vectors.S): EL1, MMU
 * on, interrupts masked, the interrupted stack with INTERRUPT_FRAME_BYTES taken, x2 and x30 at its
 * bottom; x2 = CNTPCT as the slot read it. They end with ERET, all registers as they were. ELR_EL1
 * and SPSR_EL1 stay in their registers: a handler neither unmasks interrupts nor takes exceptions
 * that return.
 *
 * Handlers are called with x0 = INTID, x2 = the slot's stamp. A light handler (INTERRUPT_HANDLER
 * in timed.h) changes x0 to x2 and x30; the table holds it directly. Any other C function goes
 * through interrupt_call, which adds x1 = source and saves what our C code may change: x3 to x8,
 * x16, x17. x9 to x15, x18 and floating-point registers it does not use (the compiler is told so),
 * libraries are not called from a handler, and x19 to x29 are the handler's to keep (AAPCS64).
 *
 * The staged entries do the same and read the counter in between, for a benchmark that wants to
 * know where the time goes. They are installed only around its samples. Each reading waits until
 * what stands before it has been completed: a DSB for device accesses, an ISB for instructions.
 */
#include "boot.h"

#include "../drivers/gic/hot.h"

#define GICC_IAR 0x00c
#define GICC_EOIR 0x010
#define SPECIAL_INTID 1020 /* and above: nothing is pending, nothing to end */

#define ICC_IAR1_EL1 S3_0_C12_C12_0
#define ICC_EOIR1_EL1 S3_0_C12_C12_1

	.section .text.timed.entry, "ax", %progbits

.macro enter
	stp	x0, x1, [sp, #16]
	stp	x3, x4, [sp, #32]
.endm

.macro leave
	ldp	x3, x4, [sp, #32]
	ldp	x0, x1, [sp, #16]
	ldp	x2, x30, [sp], #INTERRUPT_FRAME_BYTES
	eret
.endm

	/* Calls the handler of INTID x0; the table has no empty entries. Changes x0 to x2, x30. */
.macro dispatch
	adr	x30, gic_hot
	ldr	x30, [x30, x0, lsl #3]
	blr	x30
.endm

	/* Counts an interrupt that cannot have a handler. Changes x0 and x1. */
.macro count_odd
	mrs	x0, tpidr_el1
	ldr	w1, [x0, #CPU_OFFSET_SPURIOUS]
	add	w1, w1, #1
	str	w1, [x0, #CPU_OFFSET_SPURIOUS]
.endm

	/* Stamps of the stages: x5 = this core's struct gic_stages, x6 for the readings. */
.macro stages_enter staged
	.if \staged
	stp	x5, x6, [sp, #-16]!
	mrs	x5, tpidr_el1
	ldr	w6, [x5, #CPU_OFFSET_INDEX]
	adr	x5, gic_stages
	add	x5, x5, x6, lsl GIC_STAGES_SHIFT
	str	x2, [x5, #GIC_STAGES_ENTRY]
	.endif
.endm

.macro stage staged, offset
	.if \staged
	dsb	sy
	isb
	mrs	x6, cntpct_el0
	str	x6, [x5, #\offset]
	.endif
.endm

.macro stages_leave staged
	.if \staged
	ldp	x5, x6, [sp], #16
	.endif
.endm

	/*
	 * GICv2. The acknowledge is a device read: only a barrier orders it before the loads of
	 * what the sender stored. The interrupt is ended with the whole value that acknowledged
	 * it, the source of an SGI included.
	 */
.macro v2_entry staged
	enter
	stages_enter \staged
	ldr	x4, gic_hot + GIC_HOT_CPU_INTERFACE
	ldr	w3, [x4, #GICC_IAR]
	stage	\staged, GIC_STAGES_ACKNOWLEDGED
	and	w0, w3, #0x3ff
	cmp	w0, #(GIC_INTID_COUNT - 1)
	b.hi	1f
	dmb	ishld
	dispatch
	stage	\staged, GIC_STAGES_HANDLED
	str	w3, [x4, #GICC_EOIR]
	stage	\staged, GIC_STAGES_ENDED
	stages_leave \staged
	leave
1:	/* A shared interrupt, or none at all, which must not be ended. */
	cmp	w0, #SPECIAL_INTID
	b.hs	2f
	str	w3, [x4, #GICC_EOIR]
2:	count_odd
	stages_leave \staged
	leave
.endm

	/*
	 * GICv3. The acknowledge takes effect before what follows; only a DSB orders it. The ERET
	 * synchronizes the write of ICC_EOIR1_EL1. A handler that reads a device's status from a
	 * system register issues its own ISB first. Bits 63 to 24 of ICC_IAR1_EL1 read as zero.
	 */
.macro v3_entry staged
	enter
	stages_enter \staged
	mrs	x3, ICC_IAR1_EL1
	dsb	sy
	stage	\staged, GIC_STAGES_ACKNOWLEDGED
	cmp	x3, #(GIC_INTID_COUNT - 1)
	b.hi	1f
	mov	x0, x3
	dispatch
	stage	\staged, GIC_STAGES_HANDLED
	msr	ICC_EOIR1_EL1, x3
	stage	\staged, GIC_STAGES_ENDED
	stages_leave \staged
	leave
1:	sub	x0, x3, #SPECIAL_INTID
	cmp	x0, #4
	b.lo	2f
	msr	ICC_EOIR1_EL1, x3
2:	count_odd
	stages_leave \staged
	leave
.endm

function interrupt_v2
	v2_entry 0
end_function interrupt_v2

function interrupt_v3
	v3_entry 0
end_function interrupt_v3

function interrupt_v2_staged
	v2_entry 1
end_function interrupt_v2_staged

function interrupt_v3_staged
	v3_entry 1
end_function interrupt_v3_staged

/*
 * interrupt_call: a light handler that calls the C function gic_handlers[x0] with x0, the source
 * and x2. x3 = what was read from GICC_IAR, where the source of an SGI follows the ten bits of the
 * INTID; with GICv3 only the INTID, so that the source is 0. Keeps x3 to x8, x16 and x17.
 */
function interrupt_call
	stp	x3, x4, [sp, #-80]!
	stp	x5, x6, [sp, #16]
	stp	x7, x8, [sp, #32]
	stp	x16, x17, [sp, #48]
	str	x30, [sp, #64]
	ubfx	w1, w3, #10, #3
	adr	x16, gic_handlers
	ldr	x16, [x16, x0, lsl #3]
	blr	x16
	ldr	x30, [sp, #64]
	ldp	x16, x17, [sp, #48]
	ldp	x7, x8, [sp, #32]
	ldp	x5, x6, [sp, #16]
	ldp	x3, x4, [sp], #80
	ret
end_function interrupt_call

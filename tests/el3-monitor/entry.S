/*
 * Reset, exceptions and the way down. EL3, MMU off, code in flash.
 */
#include "monitor.h"

	.section .text.reset, "ax", %progbits
	.global reset
reset:
	mov	x0, #0x30c50000
	movk	x0, #0x0830             /* SCTLR_EL3: RES1 bits only */
	msr	sctlr_el3, x0
	adr	x0, vectors
	msr	vbar_el3, x0
	msr	cptr_el3, xzr
	msr	mdcr_el3, xzr
	msr	daifset, #0xf
	mrs	x0, mpidr_el1
	and	x1, x0, #0xff
	ubfx	x0, x0, #8, #8
	add	x0, x1, x0, lsl #4
	/* The counter: 1 GHz or whatever the machine's CNTFRQ resets to; enabled by QEMU. */
	bl	own_stack
	isb
	cbnz	x0, 1f
	ldr	x1, =bss_start
	ldr	x2, =bss_end
2:	cmp	x1, x2
	b.hs	1f
	str	xzr, [x1], #8
	b	2b
1:	bl	monitor_start
	mov	x1, x0
	ldr	x0, =0x40200000
	b	monitor_boot

	/* own_stack: x0 = index, kept. SP = the top of its stack. Clobbers x1, x2. */
own_stack:
	ldr	x1, =stacks
	add	x2, x0, #1
	mov	sp, x1
	mov	x1, #MONITOR_STACK_BYTES
	mul	x2, x2, x1
	mov	x1, sp
	add	sp, x1, x2
	ret

	.balign	2048
vectors:
	.rept	8
	.balign	128
	b	.
	.endr
	.balign	128                     /* lower level, AArch64: synchronous */
	sub	sp, sp, #FRAME_BYTES
	stp	x0, x1, [sp]
	mrs	x0, cntpct_el0
	str	x0, [sp, #FRAME_STAMP]
	b	synchronous
	.balign	128                     /* IRQ */
	b	.
	.balign	128                     /* FIQ: a wake-up that comes too late */
	sub	sp, sp, #FRAME_BYTES
	stp	x0, x1, [sp]
	b	late_wake
	.balign	128
	b	.
	.rept	4
	.balign	128
	b	.
	.endr

.macro save_rest
	stp	x2, x3, [sp, #16]
	stp	x4, x5, [sp, #32]
	stp	x6, x7, [sp, #48]
	stp	x8, x9, [sp, #64]
	stp	x10, x11, [sp, #80]
	stp	x12, x13, [sp, #96]
	stp	x14, x15, [sp, #112]
	stp	x16, x17, [sp, #128]
	stp	x18, x19, [sp, #144]
	stp	x20, x21, [sp, #160]
	stp	x22, x23, [sp, #176]
	stp	x24, x25, [sp, #192]
	stp	x26, x27, [sp, #208]
	stp	x28, x29, [sp, #224]
	str	x30, [sp, #240]
	mrs	x1, elr_el3
	mrs	x2, spsr_el3
	stp	x1, x2, [sp, #FRAME_ELR]
.endm

synchronous:
	save_rest
	mov	x0, sp
	bl	monitor_call
	b	leave
late_wake:
	save_rest
	bl	gic_take_wake
leave:
	ldp	x1, x2, [sp, #FRAME_ELR]
	msr	elr_el3, x1
	msr	spsr_el3, x2
	ldp	x2, x3, [sp, #16]
	ldp	x4, x5, [sp, #32]
	ldp	x6, x7, [sp, #48]
	ldp	x8, x9, [sp, #64]
	ldp	x10, x11, [sp, #80]
	ldp	x12, x13, [sp, #96]
	ldp	x14, x15, [sp, #112]
	ldp	x16, x17, [sp, #128]
	ldp	x18, x19, [sp, #144]
	ldp	x20, x21, [sp, #160]
	ldp	x22, x23, [sp, #176]
	ldp	x24, x25, [sp, #192]
	ldp	x26, x27, [sp, #208]
	ldp	x28, x29, [sp, #224]
	ldr	x30, [sp, #240]
	ldp	x0, x1, [sp], #FRAME_BYTES
	eret

	.global monitor_enter
monitor_enter:
	movz	x2, #0xdead
	movk	x2, #0xbeef, lsl #16
	movk	x2, #0xdead, lsl #32
	.irp	register, ttbr0_el1, ttbr1_el1, tcr_el1, mair_el1, amair_el1, vbar_el1, \
		contextidr_el1, tpidr_el1, tpidr_el0, tpidrro_el0, sp_el0, sp_el1, elr_el1, far_el1, \
		esr_el1, csselr_el1, par_el1, cntp_cval_el0, cntv_cval_el0, pmccntr_el0, fpsr
	msr	\register, x2
	.endr
	mov	x3, #0x3000000
	msr	fpcr, x3
	msr	cpacr_el1, xzr
	msr	cntkctl_el1, x2
	msr	mdscr_el1, xzr
	msr	cntp_ctl_el0, xzr
	msr	cntv_ctl_el0, xzr
	msr	pmcr_el0, xzr
	mov	x3, #-1
	msr	pmcntenclr_el0, x3
	mrs	x3, id_aa64pfr0_el1
	ubfx	x3, x3, #8, #4
	cbz	x3, 1f
	.irp	register, vbar_el2, vttbr_el2, ttbr0_el2, tcr_el2, mair_el2, cntvoff_el2, sp_el2, \
		vpidr_el2, vmpidr_el2, tpidr_el2, hstr_el2
	msr	\register, x2
	.endr
	mov	x3, #0x3000
	msr	hcr_el2, x3             /* RW = 0, traps on */
	msr	cnthctl_el2, xzr
	mov	x3, #0x37ff
	msr	cptr_el2, x3            /* TFP */
1:
	mov	x3, x2
	mov	x4, x2
	mov	x19, x2
	mov	x20, x2
	mov	x21, x2
	mov	x22, x2
	mov	x29, x2
	mov	x30, x2

	.global monitor_boot
monitor_boot:
	mov	x9, x0
	mov	x10, x1
	mrs	x0, mpidr_el1
	and	x1, x0, #0xff
	ubfx	x0, x0, #8, #8
	add	x0, x1, x0, lsl #4
	bl	own_stack
	msr	elr_el3, x9
	mov	x0, #0x0535             /* SCR_EL3: NS, FIQ, RES1, HCE, RW; */
	movk	x0, #0x0003, lsl #16    /* no trapping of pointer authentication */
	msr	scr_el3, x0
	mrs	x0, id_aa64pfr0_el1
	ubfx	x0, x0, #8, #4          /* EL2 */
	mov	x1, #0x3c5              /* EL1h, D A I F masked */
	mov	x2, #0x3c9              /* EL2h */
	cmp	x0, #0
	csel	x1, x1, x2, eq
	msr	spsr_el3, x1
	mov	x2, #0x0800
	movk	x2, #0x30d0, lsl #16    /* SCTLR_EL1: RES1 bits only */
	cbnz	x0, 2f
	msr	sctlr_el1, x2
	b	3f
2:	mov	x2, #0x0830
	movk	x2, #0x30c5, lsl #16    /* SCTLR_EL2 */
	msr	sctlr_el2, x2
3:	mov	x0, x10
	mov	x1, #0
	isb
	eret
	.ltorg

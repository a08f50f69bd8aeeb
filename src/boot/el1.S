/*
 * EL1: the state that every core has before its MMU is on, and turning the MMU on.
 */
#include "boot.h"

#include "../arch/mmu_tables.h"

	.section .text.boot, "ax", %progbits

/* MAIR_EL1: index 0 Device-nGnRE, index 1 Normal write-back; mmu_tables.h names them. */
#define MAIR_EL1_VALUE 0xff04

/*
 * TCR_EL1: both halves 48 bits wide with 4 KiB pages, walks write-back and inner shareable. No
 * hardware update of access or dirty bits: some cores have errata there.
 */
#define TCR_HALF(shift) ((16 << 0 | 1 << 8 | 1 << 10 | 3 << 12) << (shift))
#define TCR_EL1_VALUE (TCR_HALF(0) | TCR_HALF(16) | (2 << 30))
#define TCR_EL1_IPS_SHIFT 32
#define TCR_EL1_IPS_48_BITS 5

#define CPACR_EL1_FPEN (3 << 20)

/*
 * el1_set_up: MMU and caches off, floating point on (libc uses it in any function with variable
 * arguments), timers off, nothing stale in TLB and instruction cache, exceptions to early_vectors.
 * Clobbers x0. EL1; MMU off, or on with an identity map and the image cleaned; SP is not used.
 */
function el1_set_up
	address_of x0, early_vectors
	msr	vbar_el1, x0
	ldr	x0, =SCTLR_EL1_MMU_OFF
	msr	sctlr_el1, x0
	isb
	tlbi	vmalle1
	ic	iallu
	dsb	sy
	isb
	mov	x0, #CPACR_EL1_FPEN
	msr	cpacr_el1, x0
	msr	mdscr_el1, xzr
	msr	cntkctl_el1, xzr
	msr	cntp_ctl_el0, xzr
	msr	cntv_ctl_el0, xzr
	msr	tpidr_el1, xzr
	isb
	ret
end_function el1_set_up

/*
 * mmu_enable: MMU and caches on with the tables that mmu_early_build() made; returns to its caller
 * at the physical address, through the identity map. Clobbers x0, x1. EL1, after el1_set_up; SP is
 * not used and no data is read from memory but this file's literals.
 */
function mmu_enable
	mov	x0, #MAIR_EL1_VALUE
	msr	mair_el1, x0
	ldr	x0, =TCR_EL1_VALUE
	mrs	x1, id_aa64mmfr0_el1
	and	x1, x1, #0xf            /* PARange; 4 KiB pages reach 48 bits */
	cmp	x1, #TCR_EL1_IPS_48_BITS
	b.ls	1f
	mov	x1, #TCR_EL1_IPS_48_BITS
1:	orr	x0, x0, x1, lsl #TCR_EL1_IPS_SHIFT
	msr	tcr_el1, x0
	address_of x0, mmu_tables
	msr	ttbr1_el1, x0           /* table MMU_ROOT_HIGH, 0 */
	add	x0, x0, #MMU_TABLE_BYTES
	msr	ttbr0_el1, x0           /* table MMU_ROOT_IDENTITY, 1 */
	isb
	tlbi	vmalle1
	dsb	nsh
	isb
	ldr	x0, =SCTLR_EL1_MMU_ON
	msr	sctlr_el1, x0
	isb
	ret
end_function mmu_enable

	.ltorg

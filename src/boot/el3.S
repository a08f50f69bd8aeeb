/*
 * EL3, where the image does not belong: just enough to reach EL1 and tell the user.
 */
#include "boot.h"

	.section .text.boot, "ax", %progbits

/*
 * SCR_EL3: AArch64 below (RW), HVC enabled (HCE), SMC undefined (SMD), non-secure (NS), RES1 5:4.
 */
#define SCR_EL3_VALUE ((1 << 10) | (1 << 8) | (1 << 7) | (1 << 0) | (3 << 4))

/*
 * el3_drop: returns to its caller at EL1h with MMU and caches off, through EL2's set-up if there is
 * an EL2. Clobbers x0 to x5. EL3, identity map or MMU off; SP is not used.
 *
 * SMC is made undefined since nobody answers it: a call ends as "not supported" and not in a loop.
 */
function el3_drop
	ldr	x0, =SCTLR_EL3_MMU_OFF
	msr	sctlr_el3, x0
	isb
	mov	x0, #SCR_EL3_VALUE
	/*
	 * What el2_to_el1 writes must not trap: fine-grained traps (FGTEn, FGTEn2), HCRX_EL2
	 * (HXEn).
	 */
	mrs	x1, S3_0_C0_C7_0        /* ID_AA64MMFR0_EL1 */
	ubfx	x1, x1, #56, #4         /* FGT */
	cbz	x1, 1f
	orr	x0, x0, #(1 << 27)
	cmp	x1, #2
	b.lo	1f
	orr	x0, x0, #(1 << 59)
1:	mrs	x1, S3_0_C0_C7_1        /* ID_AA64MMFR1_EL1 */
	ubfx	x1, x1, #40, #4         /* HCX */
	cbz	x1, 2f
	orr	x0, x0, #(1 << 38)
2:	msr	scr_el3, x0
	msr	cptr_el3, xzr

	mrs	x1, id_aa64pfr0_el1
	ubfx	x0, x1, #24, #4         /* GIC: the system-register interface */
	cbz	x0, 3f
	mov	x0, #0x9                /* SRE and Enable */
	msr	S3_6_C12_C12_5, x0      /* ICC_SRE_EL3 */
	isb

3:	ldr	x0, =SCTLR_EL1_MMU_OFF
	msr	sctlr_el1, x0
	ubfx	x0, x1, #8, #4          /* EL2 */
	cbz	x0, 4f
	ldr	x0, =SCTLR_EL2_MMU_OFF
	msr	sctlr_el2, x0
	address_of x0, early_vectors
	msr	vbar_el2, x0
	adr	x0, el2_to_el1          /* which goes on to our caller: x30 is kept */
	mov	x1, #SPSR_EL2H
	b	5f
4:	mov	x0, x30
	mov	x1, #SPSR_EL1H
5:	msr	elr_el3, x0
	msr	spsr_el3, x1
	isb
	eret
end_function el3_drop

	.ltorg

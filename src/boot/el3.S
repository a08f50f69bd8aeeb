/*
 * EL3, where the image does not belong: just enough to reach EL1 and tell the user.
 */
#include "boot.h"

	.section .text.boot, "ax", %progbits

/* SCR_EL3: AArch64 below (RW), HVC enabled (HCE), SMC undefined (SMD), non-secure (NS), RES1 5:4. */
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
	msr	scr_el3, x0
	msr	cptr_el3, xzr

	mrs	x1, id_aa64pfr0_el1
	ubfx	x0, x1, #24, #4         /* GIC: the system-register interface */
	cbz	x0, 1f
	mov	x0, #0x9                /* SRE and Enable */
	msr	S3_6_C12_C12_5, x0      /* ICC_SRE_EL3 */
	isb

1:	ldr	x0, =SCTLR_EL1_MMU_OFF
	msr	sctlr_el1, x0
	ubfx	x0, x1, #8, #4          /* EL2 */
	cbz	x0, 2f
	ldr	x0, =SCTLR_EL2_MMU_OFF
	msr	sctlr_el2, x0
	address_of x0, early_vectors
	msr	vbar_el2, x0
	adr	x0, el2_to_el1          /* which goes on to our caller: x30 is kept */
	mov	x1, #SPSR_EL2H
	b	3f
2:	mov	x0, x30
	mov	x1, #SPSR_EL1H
3:	msr	elr_el3, x0
	msr	spsr_el3, x1
	isb
	eret
end_function el3_drop

	.ltorg

/*
 * EL2: what every core that enters there sets up before it drops to EL1. Registers are UNKNOWN at
 * reset, so each that can trap or change what EL1 does is written.
 */
#include "boot.h"

	.section .text.boot, "ax", %progbits

#define CNTHCTL_EL2_VALUE 3  /* EL1PCTEN, EL1PCEN: EL1 has the physical counter and timer */
#define CPTR_EL2_VALUE 0x33ff /* RES1 bits; TFP = 0: floating point is not trapped */

/*
 * el2_to_el1: turns EL2's MMU and caches off, sets EL2 up for an EL1 that nobody interferes with,
 * and returns to its caller at EL1h with MMU and caches off and D, A, I, F masked. Clobbers x0 to
 * x3. EL2, MMU off, or on with an identity map and the image cleaned; SP is not used.
 *
 * EL2 keeps early_vectors, which answer an HVC with "not supported".
 */
function el2_to_el1
	address_of x0, early_vectors
	msr	vbar_el2, x0
	ldr	x0, =SCTLR_EL2_MMU_OFF
	msr	sctlr_el2, x0
	isb
	/* RW before the first CPU_ON: some firmware takes the other cores' width from it. */
	ldr	x0, =(HCR_EL2_RW | HCR_EL2_APK_API)
	msr	hcr_el2, x0
	isb
	tlbi	alle2
	tlbi	alle1
	ic	iallu
	dsb	sy
	isb

	mov	x0, #CNTHCTL_EL2_VALUE
	msr	cnthctl_el2, x0
	msr	cntvoff_el2, xzr
	msr	cnthp_ctl_el2, xzr
	mov	x0, #CPTR_EL2_VALUE
	msr	cptr_el2, x0
	msr	hstr_el2, xzr
	msr	vttbr_el2, xzr
	mrs	x0, midr_el1
	msr	vpidr_el2, x0
	mrs	x0, mpidr_el1
	msr	vmpidr_el2, x0

	/* All event counters belong to EL1 (HPMN); nothing of debug or PMU traps. */
	mov	x1, #0
	mrs	x0, id_aa64dfr0_el1
	ubfx	x0, x0, #8, #4          /* PMUVer; 0 none, 15 not by the architecture */
	cbz	x0, 1f
	cmp	x0, #15
	b.eq	1f
	mrs	x1, pmcr_el0
	ubfx	x1, x1, #11, #5
1:	msr	mdcr_el2, x1

	mrs	x3, id_aa64pfr0_el1
	ubfx	x0, x3, #24, #4         /* GIC: the system-register interface */
	cbz	x0, 2f
	mrs	x0, S3_4_C12_C9_5       /* ICC_SRE_EL2 */
	orr	x0, x0, #(1 << 0)       /* SRE */
	orr	x0, x0, #(1 << 3)       /* Enable, for EL1 */
	msr	S3_4_C12_C9_5, x0
	isb
	mrs	x0, S3_4_C12_C9_5
	tbz	x0, #0, 2f              /* SRE stays 0 where the GIC has no such interface */
	msr	S3_4_C12_C11_0, xzr     /* ICH_HCR_EL2: no virtual interrupts */

	/* Fine-grained traps (FEAT_FGT, FEAT_FGT2) and HCRX_EL2 (FEAT_HCX), where there are any. */
2:	mrs	x0, S3_0_C0_C7_0        /* ID_AA64MMFR0_EL1 */
	ubfx	x0, x0, #56, #4         /* FGT */
	cbz	x0, 4f
	msr	S3_4_C1_C1_4, xzr       /* HFGRTR_EL2 */
	msr	S3_4_C1_C1_5, xzr       /* HFGWTR_EL2 */
	msr	S3_4_C1_C1_6, xzr       /* HFGITR_EL2 */
	msr	S3_4_C3_C1_4, xzr       /* HDFGRTR_EL2 */
	msr	S3_4_C3_C1_5, xzr       /* HDFGWTR_EL2 */
	ubfx	x1, x3, #44, #4         /* AMU */
	cbz	x1, 3f
	msr	S3_4_C3_C1_6, xzr       /* HAFGRTR_EL2 */
3:	cmp	x0, #2
	b.lo	4f
	msr	S3_4_C3_C1_2, xzr       /* HFGRTR2_EL2 */
	msr	S3_4_C3_C1_3, xzr       /* HFGWTR2_EL2 */
	msr	S3_4_C3_C1_7, xzr       /* HFGITR2_EL2 */
	msr	S3_4_C3_C1_0, xzr       /* HDFGRTR2_EL2 */
	msr	S3_4_C3_C1_1, xzr       /* HDFGWTR2_EL2 */
4:	mrs	x0, S3_0_C0_C7_1        /* ID_AA64MMFR1_EL1 */
	ubfx	x0, x0, #40, #4         /* HCX */
	cbz	x0, 5f
	msr	S3_4_C1_C2_2, xzr       /* HCRX_EL2 */

5:	ldr	x0, =SCTLR_EL1_MMU_OFF
	msr	sctlr_el1, x0
	mov	x0, #SPSR_EL1H
	msr	spsr_el2, x0
	msr	elr_el2, x30
	isb
	eret
end_function el2_to_el1

	.ltorg

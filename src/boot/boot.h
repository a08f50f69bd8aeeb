/*
 * What the boot assembly shares: register values and small macros. Only for src/boot and, for
 * the sizes, src/arch. Everything that runs before the MMU is on addresses memory relative to the
 * PC, so that it does not care where the image was loaded.
 */
#pragma once

#include "el1bench/cpu.h"

/* SCTLR_EL1 (D17.2.118): the bits that read as one in Armv8.0; SPAN, EIS and EOS among them. */
#define SCTLR_EL1_RES1 0x30d00800
#define SCTLR_M (1 << 0)
#define SCTLR_A (1 << 1)
#define SCTLR_C (1 << 2)
#define SCTLR_SA (1 << 3)
#define SCTLR_SA0 (1 << 4)
#define SCTLR_I (1 << 12)
#define SCTLR_NTWI (1 << 16)
#define SCTLR_NTWE (1 << 18)

/*
 * With the MMU off all memory is Device memory, and real cores fault unaligned accesses to it
 * whatever A says. A = 1 makes emulators, which do not model that, fault them too.
 */
#define SCTLR_EL1_MMU_OFF (SCTLR_EL1_RES1 | SCTLR_A | SCTLR_SA | SCTLR_SA0)
#define SCTLR_EL1_MMU_ON                                                                           \
	(SCTLR_EL1_RES1 | SCTLR_M | SCTLR_C | SCTLR_I | SCTLR_SA | SCTLR_SA0 | SCTLR_NTWI |        \
	 SCTLR_NTWE)

/* SCTLR_EL2 and SCTLR_EL3: RES1 bits only, so MMU and caches off. */
#define SCTLR_EL2_MMU_OFF 0x30c50830
#define SCTLR_EL3_MMU_OFF 0x30c50830

/* SPSR for an exception return with D, A, I and F masked. */
#define SPSR_EL1H 0x3c5
#define SPSR_EL2H 0x3c9

#define HCR_EL2_RW (1 << 31)
#define HCR_EL2_APK_API (3 << 40) /* no trapping of pointer authentication */

/* CurrentEL. */
#define CURRENT_EL2 (2 << 2)
#define CURRENT_EL3 (3 << 2)

/*
 * A core's stacks, from the bottom: guard page, emergency stack, guard page, stack. The block of
 * core n starts at `stacks` + n * STACK_BLOCK_BYTES.
 */
#define STACK_GUARD_BYTES 4096
#define STACK_BLOCK_BYTES (2 * STACK_GUARD_BYTES + CPU_EMERGENCY_STACK_BYTES + CPU_STACK_BYTES)

/* What an interrupt stores on the interrupted stack: x0 to x4 and x30. */
#define INTERRUPT_FRAME_BYTES 48

/* sizeof(struct cpu), as a power of two; src/arch/cpu.c asserts it. */
#define CPU_BYTES_SHIFT 6

#ifdef __ASSEMBLER__

.macro function name
	.global \name
	.type \name, %function
	.balign 4
\name:
.endm

.macro end_function name
	.size \name, . - \name
.endm

/* \register = run-time address of \symbol: physical before the MMU is on, virtual afterwards. */
.macro address_of register, symbol
	adrp \register, \symbol
	add \register, \register, :lo12:\symbol
.endm

/* \bytes = the smallest line of any data cache (CTR_EL0.DminLine); \scratch is clobbered. */
.macro dcache_line bytes, scratch
	mrs \scratch, ctr_el0
	ubfx \scratch, \scratch, #16, #4
	mov \bytes, #4
	lsl \bytes, \bytes, \scratch
.endm

/*
 * SP = top of the stack of core \index and \emergency = top of its emergency stack. \index is
 * kept; \scratch is clobbered.
 */
.macro stacks_of index, emergency, scratch
	mov \scratch, #STACK_BLOCK_BYTES
	address_of \emergency, stacks
	madd \scratch, \index, \scratch, \emergency
	add \emergency, \scratch, #(STACK_GUARD_BYTES + CPU_EMERGENCY_STACK_BYTES)
	add \scratch, \emergency, #STACK_GUARD_BYTES
	add \scratch, \scratch, #CPU_STACK_BYTES
	mov sp, \scratch
.endm

/*
 * The first instructions of a core that firmware starts or resumes, up to EL1 with its MMU on, at
 * virtual addresses. x0 = the core's index, as given to the firmware for context_id; EL1 or EL2,
 * MMU off, SP unusable. Exceptions and interrupts masked. An index that is out of range parks the
 * core. Clobbers what el2_to_el1, el1_set_up and mmu_enable do, and leaves:
 *
 *	x20  index
 *	x22  CNTPCT at entry
 *	x23  exception level at entry
 */
.macro core_enter
	isb
	mrs	x22, cntpct_el0
	mov	x20, x0
	msr	daifset, #0xf
	msr	spsel, #1
	msr	tpidr_el0, xzr          /* early_vectors.S: no exception so far */
	mrs	x23, CurrentEL
	lsr	x23, x23, #2
	cmp	x23, #2
	b.hi	park
	b.ne	.Lat_el1_\@
	bl	el2_to_el1
.Lat_el1_\@:
	bl	el1_set_up
	cmp	x20, #CPU_MAX
	b.hs	park
	bl	mmu_enable
	ldr	x0, =.Lvirtual_\@
	br	x0
.Lvirtual_\@:
.endm

#endif

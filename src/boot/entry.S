/*
 * The way of the booting core from the image's first instruction to boot_primary() in C.
 *
 * It copes with EL1, EL2 and EL3, and at EL1 and EL2 with MMU and caches on or off. It ends at EL1
 * with the MMU on, running at the address the image was linked at.
 */
#include "boot.h"

#include "../arch/mmu_tables.h"

	.section .text.boot, "ax", %progbits

/*
 * entry: x0, x1 as the loader left them. Any EL, MMU on (with an identity map) or off, SP unusable.
 * entry_unpacked: the same, from the unpacker (packed/unpack.S), which has set x22 and x26.
 *
 * From here to boot_primary():
 *	x20, x21  x0 and x1 at entry
 *	x22       CNTPCT at entry
 *	x23       exception level at entry
 *	x24       1 if the MMU was on
 *	x25       physical address of the image
 *	x26       physical address of the file that was loaded
 */
function entry
	isb
	mrs	x22, cntpct_el0
	adr	x26, image_header
	.global	entry_unpacked
entry_unpacked:
	mov	x20, x0
	mov	x21, x1
	msr	daifset, #0xf
	msr	spsel, #1
	msr	tpidr_el0, xzr          /* early_vectors.S: no exception so far */
	adr	x25, image_header
	tst	x25, #0xfff
	b.ne	park                    /* not on a page: no address computed here would be right */
	mov	x24, #0

	address_of x0, early_vectors
	mrs	x23, CurrentEL
	lsr	x23, x23, #2
	cmp	x23, #2
	b.hi	entry_el3
	b.eq	entry_el2

	msr	vbar_el1, x0
	isb
	mrs	x19, sctlr_el1
	tbz	x19, #0, 1f            /* M; while it is 0, no data access uses a cache */
	mov	x24, #1
	bl	image_clean_invalidate
1:	bl	el1_set_up
	b	entry_el1

entry_el2:
	msr	vbar_el2, x0
	isb
	mrs	x19, sctlr_el2
	tbz	x19, #0, 2f            /* M; while it is 0, no data access uses a cache */
	mov	x24, #1
	bl	image_clean_invalidate
2:	bl	el2_to_el1
	bl	el1_set_up
	b	entry_el1

	/* Without firmware all cores come here at once; one is enough to say so. */
entry_el3:
	msr	vbar_el3, x0
	isb
	mrs	x0, mpidr_el1
	ldr	x1, =0xff00ffffff       /* affinity fields */
	tst	x0, x1
	b.ne	park
	bl	el3_drop
	bl	el1_set_up
	/* fall through */

	/* EL1, MMU and caches off, nothing stale in the caches that has the image's addresses. */
entry_el1:
	/*
	 * What is written with the caches off must not be shadowed by a line that somebody left
	 * behind: dirty lines would overwrite it, clean ones would hide it later. So drop them
	 * before and, since a core may read ahead, after.
	 */
	bl	boot_data_invalidate
	mov	x0, #0
	stacks_of x0, x1, x2
	sub	x0, x1, #CPU_EMERGENCY_STACK_BYTES
	mov	x1, sp
	bl	dcache_invalidate

	address_of x0, bss_start
	address_of x1, bss_end
3:	cmp	x0, x1
	b.hs	4f
	stp	xzr, xzr, [x0], #16     /* the linker script aligns both ends to 16 */
	b	3b

4:	mov	x0, x25
	bl	mmu_early_build
	dsb	sy
	bl	boot_data_invalidate

	bl	mmu_enable
	ldr	x0, =5f                 /* a link-time address: in the image's own mapping */
	br	x0

5:	mov	x0, #0
	stacks_of x0, x9, x10
	address_of x10, cpus
	str	x9, [x10, #CPU_OFFSET_EMERGENCY_STACK]
	msr	tpidr_el1, x10
	address_of x11, exception_vectors
	msr	vbar_el1, x11
	isb
	mov	x0, x20
	mov	x1, x21
	mov	x2, x22
	mov	x3, x23
	mov	x4, x24
	mov	x5, x25
	mov	x6, x26
	mov	x29, #0
	mov	x30, #0
	b	boot_primary
end_function entry

/*
 * park: a core that is not wanted waits for good. Any state; does not return.
 */
function park
	wfi
	b	park
end_function park

/*
 * image_clean_invalidate: writes the image, its bss and stacks back to the point of coherency and
 * drops the lines: what the loader wrote through its caches is what runs once they are off.
 * Clobbers x0 to x4. MMU on or off, any EL.
 */
function image_clean_invalidate
	address_of x0, image_start
	address_of x1, image_end
	dcache_line x2, x3
1:	dc	civac, x0
	add	x0, x0, x2
	cmp	x0, x1
	b.lo	1b
	dsb	sy
	ret
end_function image_clean_invalidate

/*
 * boot_data_invalidate: drops cache lines of bss and of the page tables, all that the booting core
 * writes before its MMU is on and reads again later. Clobbers x0 to x3 and x9. MMU off.
 */
function boot_data_invalidate
	mov	x9, x30
	address_of x0, bss_start
	address_of x1, bss_end
	bl	dcache_invalidate
	address_of x0, mmu_tables
	ldr	x1, =MMU_TABLES_BYTES
	add	x1, x0, x1
	bl	dcache_invalidate
	ret	x9
end_function boot_data_invalidate

/*
 * dcache_invalidate: drops the lines of [x0, x1); both multiples of the line size, or sharing their
 * lines with nothing of value. Clobbers x0, x2, x3. MMU off.
 */
function dcache_invalidate
	dcache_line x2, x3
	sub	x3, x2, #1
	bic	x0, x0, x3
1:	dc	ivac, x0
	add	x0, x0, x2
	cmp	x0, x1
	b.lo	1b
	dsb	sy
	ret
end_function dcache_invalidate

	.ltorg

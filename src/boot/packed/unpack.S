/*
 * The raw image as boot loaders get it: the arm64 Image header, this unpacker, and the image itself
 * in LZ4's block format, put together by scripts/cmake/pack.py. Linked on its own, at address 0,
 * and position-independent.
 *
 * The image is unpacked behind the file, to the next page, and entered there (entry_unpacked in
 * entry.S) as if the loader had put it there: x0, x1 untouched, MMU and caches as they were. What
 * is handed over besides: x22, the counter at the first instruction, and x26, the file's address.
 */
#include "../boot.h"

	.text

	.global	packed_header
packed_header:
	b	unpack
	nop
	.quad	IMAGE_TEXT_OFFSET
	.quad	0                       /* image_size: pack.py */
	.quad	IMAGE_FLAGS
	.quad	0
	.quad	0
	.quad	0
	.ascii	"ARM\x64"
	.long	0

	/* Filled in by pack.py, which knows this order. */
parameters:
	.quad	0                       /* bytes of packed data, a multiple of 4 with padding */
	.quad	0                       /* bytes of packed data without padding */
	.quad	0                       /* bytes unpacked */
	.quad	0                       /* distance from the file to where it is unpacked */
	.quad	0                       /* distance from there to entry_unpacked */
	.quad	0                       /* sum of the packed data */
	.quad	0                       /* bytes of code at the start of what is unpacked */

/*
 * unpack: x0, x1 and x30 as the loader left them. Any EL, MMU on (with an identity map) or off; SP
 * is not used. Clobbers x2 to x17, x22 to x26; the flags.
 *
 * A file that was damaged on its way is not entered: with the MMU on (U-Boot's `go`) the loader
 * gets control back with a non-zero result, which it prints; else the core stops.
 */
function unpack
	isb
	mrs	x22, cntpct_el0
	msr	daifset, #0xf
	adr	x26, packed_header
	adr	x2, parameters
	ldp	x3, x4, [x2]
	ldp	x5, x6, [x2, #16]
	ldp	x7, x23, [x2, #32]
	ldr	x24, [x2, #48]
	adr	x2, packed_data
	add	x6, x26, x6             /* where it is unpacked to */
	add	x7, x6, x7              /* entry_unpacked */

	/* Without firmware every core comes here at once, at EL3; one is enough. */
	mrs	x8, CurrentEL
	cmp	x8, #CURRENT_EL3
	b.ne	1f
	mrs	x8, mpidr_el1
	ldr	x9, =0xff00ffffff       /* affinity fields */
	tst	x8, x9
	b.ne	stop

1:	add	x8, x2, x3
	mov	x9, x2
	mov	w10, #0
2:	ldr	w11, [x9], #4
	ror	w10, w10, #1
	add	w10, w10, w11
	cmp	x9, x8
	b.lo	2b
	cmp	w10, w23
	b.ne	damaged

	/*
	 * Nothing that the caches hold of the destination may come back over what is written there
	 * with the MMU off, or hide it.
	 */
	add	x5, x6, x5              /* end of the destination */
	mov	x17, x30
	bl	clean_invalidate

	add	x4, x2, x4              /* end of the packed data */
	mov	x8, x6
3:	ldrb	w9, [x2], #1            /* token: literals in bits 7:4, match in 3:0 */
	lsr	w10, w9, #4
	cmp	w10, #15
	b.ne	5f
4:	ldrb	w11, [x2], #1
	add	x10, x10, x11
	cmp	w11, #255
	b.eq	4b
5:	cbz	x10, 7f
6:	ldrb	w11, [x2], #1
	strb	w11, [x8], #1
	subs	x10, x10, #1
	b.ne	6b
7:	cmp	x2, x4                  /* the last sequence has literals only */
	b.hs	11f
	ldrb	w10, [x2], #1
	ldrb	w11, [x2], #1
	orr	w10, w10, w11, lsl #8
	sub	x10, x8, x10            /* where the match is copied from; it may overlap */
	and	w11, w9, #15
	cmp	w11, #15
	b.ne	9f
8:	ldrb	w12, [x2], #1
	add	x11, x11, x12
	cmp	w12, #255
	b.eq	8b
9:	add	x11, x11, #4
10:	ldrb	w12, [x10], #1
	strb	w12, [x8], #1
	subs	x11, x11, #1
	b.ne	10b
	b	3b

	/* BL, ADR hold where their targets are, in words from the start: make_absolute(). */
11:	add	x24, x24, x6
	mov	x8, x6
	mov	w10, #0                 /* words from the image's start */
12:	ldr	w9, [x8], #4
	ubfx	w11, w9, #24, #5
	cmp	w11, #0x10              /* ADR, ADRP: distance in bits 23:5 */
	b.eq	13f
	lsr	w11, w9, #26
	cmp	w11, #0x25              /* BL: distance in bits 25:0 */
	b.ne	15f
	sub	w11, w9, w10
	bfxil	w9, w11, #0, #26
	b	14f
13:	lsr	w11, w9, #5
	sub	w11, w11, w10
	bfi	w9, w11, #5, #19
14:	str	w9, [x8, #-4]
15:	add	w10, w10, #1
	cmp	x8, x24
	b.lo	12b

	/* Code has been written as data. */
	bl	clean_invalidate
	ic	iallu
	dsb	sy
	isb
	mov	x30, x17
	br	x7
end_function unpack

/* clean_invalidate: [x6, x5) to the point of coherency. Clobbers x12 to x14. */
function clean_invalidate
	dcache_line x12, x13
	sub	x13, x12, #1
	bic	x14, x6, x13
1:	dc	civac, x14
	add	x14, x14, x12
	cmp	x14, x5
	b.lo	1b
	dsb	sy
	ret
end_function clean_invalidate

/* damaged: x8 and x9 are free. */
function damaged
	mrs	x8, CurrentEL
	cmp	x8, #CURRENT_EL2
	b.eq	1f
	b.hi	stop
	mrs	x9, sctlr_el1
	b	2f
1:	mrs	x9, sctlr_el2
2:	tbz	x9, #0, stop
	mov	x0, #-1
	ret
end_function damaged

stop:
	wfi
	b	stop

	.ltorg
	.balign	4
	.global	packed_data
packed_data:

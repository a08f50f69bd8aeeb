/*
 * Instructions that may fault on purpose. exception_dispatch() knows them by their addresses and
 * continues at the label that ends in _failed.
 */
#include "boot.h"

	.text

/*
 * probe_copy: copies x2 bytes from x1 to x0, in 16-byte units while both are aligned for it, then
 * byte by byte. Returns w0 = 1, or 0 if a read aborted. Clobbers x1 to x4. EL1, MMU on.
 *
 * An abort may come as SError, later than its load: the DSB waits for the loads, and SError is
 * taken at the ISB at the latest, still inside.
 */
function probe_copy
	.global	probe_copy_end
	.global	probe_copy_failed
	orr	x3, x0, x1
	tst	x3, #15
	b.ne	2f
1:	subs	x2, x2, #16
	b.lo	3f
	ldp	x3, x4, [x1], #16
	stp	x3, x4, [x0], #16
	b	1b
3:	add	x2, x2, #16
2:	cbz	x2, 4f
	ldrb	w3, [x1], #1
	strb	w3, [x0], #1
	sub	x2, x2, #1
	b	2b
4:	dsb	sy
	isb
probe_copy_end:
	mov	w0, #1
	ret
probe_copy_failed:
	mov	w0, #0
	ret
end_function probe_copy

/*
 * probe_semihosting: x0 = operation, x1 = parameter, x2 = where to put the result. Returns w0 = 1,
 * or 0 if HLT was an undefined instruction. Clobbers x0 to x3. EL1.
 */
function probe_semihosting
	.global	probe_semihosting_hlt
	.global	probe_semihosting_failed
probe_semihosting_hlt:
	hlt	#0xf000
	str	x0, [x2]
	mov	w0, #1
	ret
probe_semihosting_failed:
	mov	w0, #0
	ret
end_function probe_semihosting

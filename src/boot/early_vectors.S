/*
 * Exceptions before the MMU is on, on any core and at any exception level. There is no console yet:
 * the cause is kept in early_fault_record, for a debugger, told through semihosting if that is
 * there, and the core stops. It uses no stack and cannot loop.
 */
#include "boot.h"

	.section .text.boot.vectors, "ax", %progbits

#define SEMIHOSTING_WRITE0 0x04
#define SEMIHOSTING_EXIT 0x18
#define APPLICATION_EXIT 0x20026
#define EC_HVC64 0x16

.macro slot target
	.balign	128
	b	\target
.endm

	.balign	2048
	.global	early_vectors
early_vectors:
	.rept	8
	slot	early_fault
	.endr
	slot	early_call
	.rept	7
	slot	early_fault
	.endr

/*
 * A call from a lower exception level. Once a core has dropped from EL2, nobody is there to answer
 * HVC: the result is "not supported", so that a tree with the wrong conduit is reported as such.
 */
early_call:
	mrs	x16, CurrentEL
	cmp	x16, #CURRENT_EL2
	b.ne	early_fault
	mrs	x16, esr_el2
	lsr	x16, x16, #26
	cmp	x16, #EC_HVC64
	b.ne	early_fault
	mov	x0, #-1
	eret

/* Any state in which the image runs; does not return. TPIDR_EL0 is 0 before the first exception. */
early_fault:
	mrs	x19, tpidr_el0
	cbnz	x19, park               /* the second: semihosting is not there */
	mov	x19, #1
	msr	tpidr_el0, x19

	mrs	x23, CurrentEL
	cmp	x23, #CURRENT_EL2
	b.eq	2f
	b.hi	3f
	mrs	x20, esr_el1
	mrs	x21, elr_el1
	mrs	x22, far_el1
	b	4f
2:	mrs	x20, esr_el2
	mrs	x21, elr_el2
	mrs	x22, far_el2
	b	4f
3:	mrs	x20, esr_el3
	mrs	x21, elr_el3
	mrs	x22, far_el3
4:	lsr	x23, x23, #2
	address_of x19, early_fault_record
	stp	x20, x21, [x19]
	stp	x22, x23, [x19, #16]

	adr	x1, text_el
	mov	x2, x23
	bl	write_field
	adr	x1, text_esr
	mov	x2, x20
	bl	write_field
	adr	x1, text_elr
	mov	x2, x21
	bl	write_field
	adr	x1, text_far
	mov	x2, x22
	bl	write_field
	adr	x1, text_end
	mov	w0, #SEMIHOSTING_WRITE0
	hlt	#0xf000

	ldr	x0, =APPLICATION_EXIT
	mov	x1, #1                  /* exit code: failed */
	add	x2, x19, #32
	stp	x0, x1, [x2]
	mov	x1, x2
	mov	w0, #SEMIHOSTING_EXIT
	hlt	#0xf000
	b	park

/* Writes the text at x1 and x2 in hexadecimal. Clobbers x0 to x5. */
write_field:
	mov	w0, #SEMIHOSTING_WRITE0
	hlt	#0xf000
	add	x1, x19, #32
	add	x3, x1, #16
	strb	wzr, [x3]
1:	and	x4, x2, #0xf
	cmp	x4, #10
	add	x5, x4, #'0'
	add	x4, x4, #('a' - 10)
	csel	x4, x5, x4, lo
	strb	w4, [x3, #-1]!
	lsr	x2, x2, #4
	cmp	x3, x1
	b.hi	1b
	mov	w0, #SEMIHOSTING_WRITE0
	hlt	#0xf000
	ret

text_el:
	.asciz	"el1bench: exception before the MMU was on: EL "
text_esr:
	.asciz	" ESR "
text_elr:
	.asciz	" ELR "
text_far:
	.asciz	" FAR "
text_end:
	.asciz	"\n"
	.balign	4
	.ltorg

	.section .bss.early_fault_record, "aw", %nobits
	/* ESR, ELR, FAR, exception level; then room for the text of one number. */
	.balign	64
	.global	early_fault_record
early_fault_record:
	.zero	64

/*
 * Switching between threads of the kernel, and where a thread starts.
 */
#include "boot.h"

	.section .text.timed, "ax", %progbits

#define THREAD_SP 96

/*
 * kernel_thread_switch: x0 = struct kernel_thread to keep the caller in, x1 = the one to go on
 * with. Returns in that one. Clobbers x2. EL1, MMU on; interrupts may be unmasked.
 */
function kernel_thread_switch
	stp	x19, x20, [x0]
	stp	x21, x22, [x0, #16]
	stp	x23, x24, [x0, #32]
	stp	x25, x26, [x0, #48]
	stp	x27, x28, [x0, #64]
	stp	x29, x30, [x0, #80]
	mov	x2, sp
	str	x2, [x0, #THREAD_SP]
	ldr	x2, [x1, #THREAD_SP]
	ldp	x19, x20, [x1]
	ldp	x21, x22, [x1, #16]
	ldp	x23, x24, [x1, #32]
	ldp	x25, x26, [x1, #48]
	ldp	x27, x28, [x1, #64]
	ldp	x29, x30, [x1, #80]
	mov	sp, x2
	ret
end_function kernel_thread_switch

/*
 * kernel_thread_start: what a new thread's x30 leads to: x19 = the thread, x20 = its function. The
 * first thing it does is to read the counter. Does not return.
 */
function kernel_thread_start
	isb
	mrs	x1, cntpct_el0
	mov	x0, x19
	mov	x30, #0
	br	x20
end_function kernel_thread_start

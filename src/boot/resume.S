/*
 * The way of a core into CPU_SUSPEND, and back from a power-down.
 *
 * Like a core that starts (secondary.S), one that resumes reads nothing from memory before its MMU
 * is on but instructions and literals that have not changed since they were loaded.
 */
#include "boot.h"

#include "el1bench/suspend.h"

	.section .text.boot, "ax", %progbits

#define CPU_SUSPEND_64 0xc4000001

/*
 * suspend_call: x0 = struct suspend_context, x1 to x3 = the call's arguments. Returns the call's
 * result, or 0 after a way through resume_entry; the context says when and how. Clobbers x1 to x17.
 * EL1, MMU on, interrupts masked.
 */
function suspend_call
	stp	x19, x20, [x0, #SUSPEND_REGISTERS]
	stp	x21, x22, [x0, #(SUSPEND_REGISTERS + 16)]
	stp	x23, x24, [x0, #(SUSPEND_REGISTERS + 32)]
	stp	x25, x26, [x0, #(SUSPEND_REGISTERS + 48)]
	stp	x27, x28, [x0, #(SUSPEND_REGISTERS + 64)]
	stp	x29, x30, [x0, #(SUSPEND_REGISTERS + 80)]
	mov	x4, sp
	str	x4, [x0, #(SUSPEND_REGISTERS + 96)]
	str	xzr, [x0, #SUSPEND_AT_ENTRY]
	mov	x19, x0

	/* Context and stack to memory: the caches may be off, or lost, when the core is back. */
	dcache_line x6, x5
	add	x5, x0, #(1 << SUSPEND_CONTEXT_SHIFT)
1:	dc	cvac, x0
	add	x0, x0, x6
	cmp	x0, x5
	b.lo	1b
	mrs	x5, tpidr_el1
	ldr	x5, [x5, #CPU_OFFSET_EMERGENCY_STACK]
	add	x5, x5, #STACK_GUARD_BYTES
	add	x5, x5, #CPU_STACK_BYTES
2:	dc	cvac, x4
	add	x4, x4, x6
	cmp	x4, x5
	b.lo	2b
	dsb	sy

	ldr	w0, =CPU_SUSPEND_64
	isb
	mrs	x4, cntpct_el0
	str	x4, [x19, #SUSPEND_BEGIN]
	bl	psci_call
	isb
	mrs	x4, cntpct_el0
	str	x4, [x19, #SUSPEND_BACK]
	ldr	x30, [x19, #(SUSPEND_REGISTERS + 88)]
	ldr	x19, [x19, #SUSPEND_REGISTERS]
	ret
end_function suspend_call

/*
 * resume_entry: x0 = the core's index, as given to CPU_SUSPEND for context_id. EL1 or EL2, MMU off,
 * SP unusable. Goes on behind suspend_call; an index that is out of range parks the core.
 */
function resume_entry
	core_enter

	address_of x1, cpus
	add	x1, x1, x20, lsl #CPU_BYTES_SHIFT
	msr	tpidr_el1, x1
	address_of x1, exception_vectors
	msr	vbar_el1, x1
	isb
	address_of x0, suspend_contexts
	add	x0, x0, x20, lsl #SUSPEND_CONTEXT_SHIFT
	mov	x1, #1
	stp	x22, x1, [x0, #SUSPEND_BACK]
	ldr	x1, [x0, #(SUSPEND_REGISTERS + 96)]
	mov	sp, x1
	ldp	x19, x20, [x0, #SUSPEND_REGISTERS]
	ldp	x21, x22, [x0, #(SUSPEND_REGISTERS + 16)]
	ldp	x23, x24, [x0, #(SUSPEND_REGISTERS + 32)]
	ldp	x25, x26, [x0, #(SUSPEND_REGISTERS + 48)]
	ldp	x27, x28, [x0, #(SUSPEND_REGISTERS + 64)]
	ldp	x29, x30, [x0, #(SUSPEND_REGISTERS + 80)]
	mov	x0, #0
	ret
end_function resume_entry

	.ltorg

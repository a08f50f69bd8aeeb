/*
 * The way of the other cores from CPU_ON to boot_secondary() in C.
 *
 * Before its MMU is on, a core reads nothing from memory but instructions and literals of this
 * section, which have not changed since they were loaded; all else is computed from the PC and
 * registers. The page tables are read by coherent, cacheable walks. So no data has to be cleaned to
 * the point of coherency for a core to start.
 */
#include "boot.h"

	.section .text.boot, "ax", %progbits

/*
 * secondary_entry: x0 = the core's index, as given to CPU_ON for context_id. EL1 or EL2, MMU off,
 * SP unusable. An index that is out of range parks the core.
 *
 *	x20  index
 *	x22  CNTPCT at entry
 *	x23  exception level at entry
 */
function secondary_entry
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
	b.ne	1f
	bl	el2_to_el1
1:	bl	el1_set_up
	cmp	x20, #CPU_MAX
	b.hs	park
	bl	mmu_enable
	ldr	x0, =2f
	br	x0

2:	stacks_of x20, x9, x10
	address_of x10, cpus
	add	x10, x10, x20, lsl #CPU_BYTES_SHIFT
	str	x9, [x10, #CPU_OFFSET_EMERGENCY_STACK]
	msr	tpidr_el1, x10
	address_of x11, exception_vectors
	msr	vbar_el1, x11
	isb
	mov	x0, x20
	mov	x1, x22
	mov	x2, x23
	mov	x29, #0
	mov	x30, #0
	b	boot_secondary
end_function secondary_entry

	.ltorg

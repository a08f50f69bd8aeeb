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
 */
function secondary_entry
	core_enter

	stacks_of x20, x9, x10
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

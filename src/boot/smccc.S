/*
 * smccc_smc, smccc_hvc (el1bench/smccc.h): x0 = function identifier, x1 to x3 = arguments, x4 =
 * where x0 to x3 go afterwards. By SMCCC 1.0 firmware may change x4 to x17. EL1, any stack.
 *
 * Where the instruction is undefined (no EL3, no EL2), exception_dispatch() makes it return -1,
 * "not supported".
 */
#include "boot.h"

	.text

.macro call_firmware name, instruction
function \name
	.global	\name\()_call
	str	x4, [sp, #-16]!
\name\()_call:
	\instruction #0
	ldr	x4, [sp], #16
	stp	x0, x1, [x4]
	stp	x2, x3, [x4, #16]
	ret
end_function \name
.endm

	call_firmware smccc_smc, smc
	call_firmware smccc_hvc, hvc

/*
 * Where an EL0 program starts: x0 = count of arguments, x1 = their address. Its first instruction
 * reads the counter, which goes to program_main() in x2; ERET has just synchronized the context, so
 * no ISB is needed.
 */
	.section .text.start, "ax", %progbits
	.global program_start
program_start:
	mrs	x2, cntpct_el0
	b	program_main

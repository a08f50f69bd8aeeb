/*
 * The light handler of smoke.registers: changes all that a light handler may change.
 */
#include "registers.h"

#include "el1bench/cpu.h"
#include "el1bench/timed.h"

volatile uint32_t registers_handled;

INTERRUPT_HANDLER void registers_light(uint32_t intid, uint32_t source, uint64_t stamp)
{
	(void)intid;
	(void)source;
	(void)stamp;
	registers_handled++;
	__asm__ volatile("mov x0, #0\n\tmov x1, #0\n\tmov x2, #0\n\tcmp x0, #1"
			 :
			 :
			 : "x0", "x1", "x2", "cc");
}

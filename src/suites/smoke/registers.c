/*
 * smoke.registers: an interrupt changes no register of the code that it interrupts, whatever its
 * handler does: for a light handler and any other, with and without the stamps of the stages.
 */
#include "registers.h"

#include <stddef.h>

#include "el1bench/barrier.h"
#include "el1bench/benchmark.h"
#include "el1bench/counter.h"
#include "el1bench/cpu.h"
#include "el1bench/gic.h"
#include "el1bench/sysreg.h"

#define ISR_EL1_I (1U << 7) /* an interrupt is pending, masked or not */
#define ARRIVAL_TIMEOUT_MS 100
#define NZCV_EQUAL UINT64_C(0x60000000)

/* Changes all that a C function may change, of what our code uses. */
TIMED static void any_handler(uint32_t intid, uint32_t source, uint64_t stamp)
{
	(void)intid;
	(void)source;
	(void)stamp;
	registers_handled++;
	__asm__ volatile("mov x0, #0\n\tmov x1, #0\n\tmov x2, #0\n\tmov x3, #0\n\tmov x4, #0\n\t"
			 "mov x5, #0\n\tmov x6, #0\n\tmov x7, #0\n\tmov x8, #0\n\tmov x16, #0\n\t"
			 "mov x17, #0\n\tcmp x0, #1"
			 :
			 :
			 : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x16", "x17",
			   "cc");
}

TIMED static uint64_t filled_value(uint32_t number)
{
	if (number == REGISTERS_STORED - 1) {
		return NZCV_EQUAL;
	}
	if ((number >= 9 && number <= 15) || number == 18) {
		return 0;
	}
	return (UINT64_C(0xa000) + number) << 48 | (0x1000 + number);
}

/* One interrupt of core 0 to itself, taken where all registers are in use. */
TIMED static bool check(struct benchmark_run *run, gic_handler handler, bool staged)
{
	struct deadline deadline = deadline_in_ms(ARRIVAL_TIMEOUT_MS);
	static uint64_t after[REGISTERS_STORED];
	uint32_t handled = registers_handled;
	bool pending;

	gic_set_handler(GIC_SGI_CHECK, handler);
	gic_set_staged(staged);
	irq_mask();
	gic->send(cpu_index(), GIC_SGI_CHECK);
	do {
		pending = (SYSREG_READ(isr_el1) & ISR_EL1_I) != 0;
	} while (!pending && !deadline_passed(&deadline));
	if (pending) {
		register_check(after);
	}
	irq_unmask();
	gic_set_staged(false);
	gic_set_handler(GIC_SGI_CHECK, NULL);
	if (!pending || registers_handled != handled + 1) {
		return benchmark_fail(run, "%lu interrupts arrived, not one",
				      registers_handled - handled, 0, 0);
	}
	for (uint32_t i = 0; i < REGISTERS_STORED; i++) {
		if (after[i] != filled_value(i)) {
			return benchmark_fail(run, "an interrupt left %lu in register %lu",
					      after[i], i, 0);
		}
	}
	return true;
}

static bool prepare(struct benchmark_run *run)
{
	if (gic == NULL) {
		return benchmark_skip(run, "there is no interrupt controller", 0, 0, 0);
	}
	return true;
}

TIMED static bool sample(struct benchmark_run *run)
{
	return check(run, any_handler, false) && check(run, registers_light, false) &&
	       check(run, any_handler, true) && check(run, registers_light, true);
}

static const struct benchmark smoke_registers = {
	.name = "smoke.registers",
	.summary = "an interrupt changes no register of what it interrupts",
	.prepare = prepare,
	.sample = sample,
};

BENCHMARK(smoke_registers);

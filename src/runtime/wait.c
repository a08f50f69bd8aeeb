/*
 * Waits with the EL1 physical timer (CNTP_*, D12.2 of the Arm ARM). Its interrupt is never taken:
 * it is masked while the core sleeps, ends WFI all the same, and is gone before it is unmasked.
 */
#include "el1bench/wait.h"

#include <stdbool.h>
#include <stddef.h>

#include "el1bench/barrier.h"
#include "el1bench/counter.h"
#include "el1bench/cpu.h"
#include "el1bench/gic.h"
#include "el1bench/sysreg.h"

#define CNTP_CTL_ENABLE 1U
#define PSTATE_I (1U << 7)
#define INTERRUPT_WAIT_MS 20

static uint32_t timer_intid; /* 0: not in use */

static void arm(uint64_t ticks)
{
	SYSREG_WRITE(cntp_cval_el0, ticks);
	SYSREG_WRITE(cntp_ctl_el0, CNTP_CTL_ENABLE);
	isb();
}

/* Switches the timer off, and waits until the controller has noticed. */
static void disarm(uint32_t intid)
{
	struct deadline deadline = deadline_in_ms(INTERRUPT_WAIT_MS);

	SYSREG_WRITE(cntp_ctl_el0, 0);
	isb();
	while (gic->pending(intid) && !deadline_passed(&deadline)) {
		cpu_yield();
	}
}

void wait_start(uint32_t intid)
{
	struct deadline deadline = deadline_in_ms(INTERRUPT_WAIT_MS);
	bool arrived;

	if (gic == NULL || intid == 0 || intid >= GIC_INTID_COUNT) {
		return;
	}
	irq_mask();
	gic->enable(intid);
	arm(0);
	do {
		arrived = gic->pending(intid);
	} while (!arrived && !deadline_passed(&deadline));
	disarm(intid);
	irq_unmask();
	timer_intid = arrived ? intid : 0;
}

void wait_until(uint64_t ticks)
{
	struct deadline deadline = {.end = ticks, .polls = DEADLINE_POLLS};
	uint64_t masked = SYSREG_READ(daif) & PSTATE_I;
	bool sleeps = timer_intid != 0 && cpu_index() == 0;

	if (deadline_passed(&deadline)) {
		return;
	}
	if (sleeps) {
		irq_mask();
		arm(ticks);
	}
	while (!deadline_passed(&deadline)) {
		if (sleeps) {
			wfi();
		} else {
			cpu_yield();
		}
	}
	if (sleeps) {
		disarm(timer_intid);
		if (masked == 0) {
			irq_unmask();
		}
	}
}

void wait_for_tick(void)
{
	wait_ms(1);
}

void wait_ms(uint32_t milliseconds)
{
	wait_until(counter_begin() + counter_hz() * milliseconds / 1000);
}

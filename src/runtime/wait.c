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
#define ISR_I (1U << 7) /* ISR_EL1: an interrupt is pending, masked or not */
#define INTERRUPT_WAIT_MS 20

static uint32_t timer_intid; /* 0: not in use */
static bool ready;

static void arm(uint64_t ticks)
{
	SYSREG_WRITE(cntp_cval_el0, ticks);
	SYSREG_WRITE(cntp_ctl_el0, CNTP_CTL_ENABLE);
	isb();
}

/* Switches the timer off, and waits until the controller has noticed. */
static void disarm(void)
{
	struct deadline deadline = deadline_in_ms(INTERRUPT_WAIT_MS);

	SYSREG_WRITE(cntp_ctl_el0, 0);
	isb();
	while (gic->pending(timer_intid) && !deadline_passed(&deadline)) {
		cpu_yield();
	}
}

/*
 * True if the timer does end WFI: with the interrupt overdue, one must be seen at the core. It is
 * not if, for one, the controller holds an interrupt active that was never ended.
 */
static bool interrupt_arrives(void)
{
	struct deadline deadline = deadline_in_ms(INTERRUPT_WAIT_MS);

	arm(0);
	while ((SYSREG_READ(isr_el1) & ISR_I) == 0) {
		if (deadline_passed(&deadline)) {
			disarm();
			timer_intid = 0;
			return false;
		}
	}
	return true;
}

void wait_start(uint32_t intid)
{
	if (gic != NULL && intid != 0 && intid < GIC_INTID_COUNT) {
		gic->enable(intid);
		timer_intid = intid;
	}
	ready = true;
}

bool wait_ready(void)
{
	return ready;
}

bool wait_sleeps(void)
{
	return timer_intid != 0;
}

void wait_until(uint64_t ticks)
{
	struct deadline deadline = {.end = ticks, .polls = DEADLINE_POLLS};
	uint64_t masked = SYSREG_READ(daif) & PSTATE_I;
	bool sleeps;

	if (deadline_passed(&deadline)) {
		return;
	}
	irq_mask();
	sleeps = timer_intid != 0 && cpu_index() == 0 && interrupt_arrives();
	if (sleeps) {
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
		disarm();
	}
	if (masked == 0) {
		irq_unmask();
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

/*
 * Sleeping in WFI with the EL1 physical timer armed. The check and the WFI both happen with
 * interrupts masked, as in smp.c: an interrupt that comes in between stays pending and ends the
 * WFI.
 */
#include "el1bench/sleep.h"

#include "el1bench/barrier.h"
#include "el1bench/counter.h"
#include "el1bench/gic.h"
#include "el1bench/platform.h"
#include "el1bench/poll.h"
#include "el1bench/sysreg.h"
#include "el1bench/timed.h"

#define CNTP_CTL_ENABLE 1U

/* The line stays up until the timer is off. */
TIMED static void timer_interrupt(uint32_t intid, uint32_t source, uint64_t stamp)
{
	(void)intid;
	(void)source;
	(void)stamp;
	SYSREG_WRITE(cntp_ctl_el0, 0);
	isb();
}

/* The INTID of the timer's PPI; 0: the device tree names none that can be used. */
TIMED static uint32_t timer_intid(void)
{
	return platform.timer_intid < GIC_INTID_COUNT ? platform.timer_intid : 0;
}

void sleep_prepare(void)
{
	if (timer_intid() != 0) {
		gic->enable(timer_intid());
	}
}

TIMED static void arm(uint64_t ticks)
{
	gic_set_handler(timer_intid(), timer_interrupt);
	SYSREG_WRITE(cntp_cval_el0, ticks);
	SYSREG_WRITE(cntp_ctl_el0, CNTP_CTL_ENABLE);
	isb();
}

TIMED static void disarm(void)
{
	SYSREG_WRITE(cntp_ctl_el0, 0);
	isb();
}

TIMED bool sleep_until(const volatile uint64_t *word, uint64_t expected, uint32_t milliseconds)
{
	struct deadline deadline = deadline_in_ms(milliseconds);
	bool sleeps = timer_intid() != 0;
	bool there = false;

	if (sleeps) {
		arm(deadline.end);
	}
	while (!there && !deadline_passed(&deadline)) {
		irq_mask();
		there = poll_read(word) == expected;
		if (!there && sleeps) {
			wfi();
		}
		irq_unmask();
		isb(); /* the interrupt that ended the wait is taken here */
		if (!there && !sleeps) {
			cpu_yield();
		}
	}
	if (sleeps) {
		disarm();
	}
	return there || poll_read(word) == expected;
}

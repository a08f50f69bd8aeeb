/*
 * Sleeping in WFI with the EL1 physical timer armed. The check and the WFI both happen with
 * interrupts masked, as in smp.c: an interrupt that comes in between stays pending and ends the
 * WFI.
 */
#include "el1bench/sleep.h"

#include "el1bench/barrier.h"
#include "el1bench/counter.h"
#include "el1bench/gic.h"
#include "el1bench/poll.h"
#include "el1bench/sysreg.h"
#include "el1bench/timed.h"

#define TIMER_INTID 30 /* the PPI that the base system architecture gives to CNTP */
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

void sleep_prepare(void)
{
	gic->enable(TIMER_INTID);
}

TIMED bool sleep_until(const volatile uint64_t *word, uint64_t expected, uint32_t milliseconds)
{
	struct deadline deadline = deadline_in_ms(milliseconds);
	bool there;

	gic_set_handler(TIMER_INTID, timer_interrupt);
	SYSREG_WRITE(cntp_cval_el0, deadline.end);
	SYSREG_WRITE(cntp_ctl_el0, CNTP_CTL_ENABLE);
	isb();
	for (;;) {
		irq_mask();
		there = poll_read(word) == expected;
		if (there || deadline_passed(&deadline)) {
			break;
		}
		wfi();
		irq_unmask();
		isb(); /* the interrupt that ended the wait is taken here */
	}
	irq_unmask();
	isb();
	SYSREG_WRITE(cntp_ctl_el0, 0);
	isb();
	return there;
}

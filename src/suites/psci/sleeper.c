/*
 * Suspends. Whoever waits for time sleeps, too, in WFI with its own timer armed: a core that polls
 * would burn its host's time under an emulator, and other cores' on hardware.
 *
 * A core that sleeps has a guard: core 0, or any other for core 0. The guard sends it an interrupt
 * when it is overdue, so that a wake-up that was lost ends in a failure and not in a hang.
 */
#include "sleeper.h"

#include <stddef.h>

#include "el1bench/barrier.h"
#include "el1bench/counter.h"
#include "el1bench/cpu.h"
#include "el1bench/gic.h"
#include "el1bench/platform.h"
#include "el1bench/poll.h"
#include "el1bench/rendezvous.h"
#include "el1bench/smp.h"
#include "el1bench/sysreg.h"
#include "el1bench/timed.h"

#define OVERDUE_MS 1000
#define POLLS_AWAKE 65536U
#define RETURN_MS 2000
#define ENABLE_MS 1000
#define INTERRUPT_MS 20
#define ISR_I (1U << 7) /* ISR_EL1: an interrupt is pending, masked or not */

static struct sleeper sleepers[CPU_MAX]; /* by online position */
static bool takes_part[CPU_MAX];
static volatile bool deaf[CPU_MAX]; /* by core: nothing would end its WFI any more */
static struct rendezvous meeting;
static uint64_t overdue_ticks;

TIMED static void arm(uint64_t ticks)
{
	SYSREG_WRITE(cntp_cval_el0, ticks);
	SYSREG_WRITE(cntp_ctl_el0, 1);
	isb();
}

/* The timer's interrupt is never taken: it is masked until it is gone. */
TIMED_BETWEEN static void disarm(void)
{
	struct deadline deadline = deadline_in_ms(INTERRUPT_MS);

	SYSREG_WRITE(cntp_ctl_el0, 0);
	isb();
	while (gic->pending(platform.timer_intid) && !deadline_passed(&deadline)) {
		cpu_yield();
	}
}

TIMED static void wake_by_interrupt(uint32_t position)
{
	gic->send(smp_online_cpu(position), GIC_SGI_BENCH);
}

/* Interrupts masked. */
TIMED_BETWEEN static bool interrupt_comes(void)
{
	struct deadline deadline = deadline_in_ms(INTERRUPT_MS);

	while ((SYSREG_READ(isr_el1) & ISR_I) == 0) {
		if (deadline_passed(&deadline)) {
			return false;
		}
		cpu_yield();
	}
	return true;
}

/*
 * Whether the calling core, at that position, gets interrupts as before its sleep: one that it
 * sends itself, then its timer's. NULL, or what it lacks. Interrupts masked; one that is pending is
 * taken.
 */
TIMED_BETWEEN static const char *check_interrupts(uint32_t position)
{
	const char *lacks = NULL;

	wake_by_interrupt(position);
	if (!interrupt_comes()) {
		lacks = "it gets no SGI";
	}
	irq_unmask();
	isb();
	irq_mask();
	arm(0);
	if (!interrupt_comes()) {
		lacks = "its timer does not interrupt it";
	}
	disarm();
	deaf[cpu_index()] = lacks != NULL;
	return lacks;
}

/* Sleeps until the core is awake, false at `until` if it is not. */
TIMED static bool wait_awake(const struct sleeper *sleeper, uint64_t until)
{
	struct deadline deadline = {.end = until, .polls = DEADLINE_POLLS};
	bool awake;

	for (;;) {
		irq_mask();
		awake = poll_read(&sleeper->awake) != 0;
		if (awake || deadline_passed(&deadline)) {
			break;
		}
		if (!deaf[cpu_index()]) {
			arm(until);
			wfi();
			disarm();
		}
		irq_unmask();
		isb(); /* the word that the core is awake is an interrupt, taken here */
	}
	irq_unmask();
	return awake;
}

TIMED_BETWEEN static void rescue(uint32_t position)
{
	sleepers[position].rescued = true;
	wake_by_interrupt(position);
}

/* For a core that sleeps alone. */
TIMED static void guard(void *argument)
{
	struct sleeper *sleeper = argument;
	uint32_t position = (uint32_t)(sleeper - sleepers);
	uint64_t until = counter_begin() + sleeper->ticks;

	if (sleeper->by_interrupt) {
		sleeper->due = until;
		if (!wait_awake(sleeper, until)) {
			(void)poll_until(&sleeper->masked, 1);
			sleeper->due = counter_begin();
			wake_by_interrupt(position);
		}
	}
	until += overdue_ticks;
	if (!wait_awake(sleeper, until)) {
		rescue(position);
		(void)wait_awake(sleeper, until + overdue_ticks);
	}
}

/* For cores that wake side by side: whoever is awake first waits for the rest, and soon dozes. */
TIMED_BETWEEN static void guard_after(uint32_t position)
{
	struct deadline deadline = deadline_in_ms(OVERDUE_MS);

	while (poll_read(&sleepers[position].awake) == 0) {
		if (deadline_passed(&deadline)) {
			rescue(position);
			return;
		}
		if (DEADLINE_POLLS - deadline.polls < POLLS_AWAKE) {
			cpu_yield();
		} else {
			(void)wait_awake(&sleepers[position],
					 counter_begin() + overdue_ticks / OVERDUE_MS);
		}
	}
}

TIMED static void sleep_once(void *argument)
{
	struct sleeper *sleeper = argument;
	const char *lacks;

	irq_mask();
	poll_publish(&sleeper->masked, 1);
	if (sleeper->meets && !rendezvous_meet(&meeting)) {
		irq_unmask();
		return;
	}
	sleeper->met = true;
	if (!sleeper->by_interrupt) {
		sleeper->due = counter_begin() + sleeper->ticks;
		arm(sleeper->due);
	}
	suspend_core(sleeper->state, sleeper->powers_down, &sleeper->outcome);
	stamps_read(&sleeper->stamps);
	disarm();
	lacks = check_interrupts((uint32_t)(sleeper - sleepers));
	if (sleeper->outcome.lost == NULL) {
		sleeper->outcome.lost = lacks;
	}
	poll_publish(&sleeper->awake, 1);
	if (sleeper->guard >= 0) {
		gic->send((uint32_t)sleeper->guard, GIC_SGI_WORK);
	}
	irq_unmask();
	isb(); /* the interrupt that ended the sleep is taken here */
	if (sleeper->meets && takes_part[0] && sleeper != &sleepers[0]) {
		guard_after(0);
	}
}

TIMED_BETWEEN static struct sleeper *set_up(uint32_t position, const struct sleep_order *order,
					    bool meets, int32_t guard_cpu)
{
	struct sleeper *sleeper = &sleepers[position];

	sleeper->awake = 0;
	sleeper->masked = 0;
	sleeper->rescued = false;
	sleeper->due = 0;
	sleeper->state = order->state;
	sleeper->powers_down = order->powers_down;
	sleeper->by_interrupt = order->by_interrupt;
	sleeper->meets = meets;
	sleeper->met = false;
	sleeper->outcome.lost = NULL;
	sleeper->guard = guard_cpu;
	sleeper->ticks = order->ticks;
	takes_part[position] = true;
	return sleeper;
}

TIMED_BETWEEN bool sleeper_is_free(uint32_t position)
{
	uint32_t cpu = smp_online_cpu(position);

	return smp_is_online(cpu) && smp_idle(cpu) && !deaf[cpu];
}

/* The first core but core 0 that is free; 0 if there is none. */
TIMED_BETWEEN static uint32_t free_position(void)
{
	for (uint32_t position = 1; position < smp_online_count(); position++) {
		if (sleeper_is_free(position)) {
			return position;
		}
	}
	return 0;
}

TIMED_BETWEEN const struct sleeper *sleep_alone(uint32_t position, const struct sleep_order *order)
{
	uint32_t cpu = smp_online_cpu(position);
	uint32_t helper = position == 0 ? smp_online_cpu(free_position()) : 0;
	struct sleeper *sleeper = set_up(position, order, false, (int32_t)helper);

	for (uint32_t other = 0; other < smp_online_count(); other++) {
		takes_part[other] = other == position;
	}
	if (position == 0 && order->unguarded) {
		sleeper->guard = -1;
		sleep_once(sleeper);
		return sleeper;
	}
	if (position == 0) {
		if (helper == 0 || !smp_post(helper, guard, sleeper)) {
			return NULL;
		}
		sleep_once(sleeper);
		return smp_wait(helper, RETURN_MS) ? sleeper : NULL;
	}
	if (!smp_post(cpu, sleep_once, sleeper)) {
		return NULL;
	}
	guard(sleeper);
	return smp_wait(cpu, RETURN_MS) ? sleeper : NULL;
}

TIMED uint32_t sleep_together(const struct sleep_order *order)
{
	uint32_t online = smp_online_count();
	uint32_t count;
	uint64_t until;

	takes_part[0] = !order->by_interrupt && sleeper_is_free(0);
	count = takes_part[0];
	for (uint32_t position = 1; position < online; position++) {
		takes_part[position] = sleeper_is_free(position);
		count += takes_part[position];
	}
	rendezvous_start(&meeting, count);
	for (uint32_t position = 1; position < online; position++) {
		if (takes_part[position] && !smp_post(smp_online_cpu(position), sleep_once,
						      set_up(position, order, true, -1))) {
			return position;
		}
	}
	until = counter_begin() + order->ticks;
	if (takes_part[0]) {
		sleep_once(set_up(0, order, true, -1));
	} else {
		sleepers[0].awake = 0; /* and stays so */
		(void)wait_awake(&sleepers[0], until);
	}
	for (uint32_t position = 1; position < online && order->by_interrupt; position++) {
		if (takes_part[position]) {
			(void)poll_until(&sleepers[position].masked, 1);
			sleepers[position].due = counter_begin();
			wake_by_interrupt(position);
		}
	}
	for (uint32_t position = 1; position < online; position++) {
		if (takes_part[position]) {
			guard_after(position);
		}
	}
	for (uint32_t position = 1; position < online; position++) {
		if (takes_part[position] && !smp_wait(smp_online_cpu(position), RETURN_MS)) {
			return position;
		}
	}
	return 0;
}

TIMED_BETWEEN const struct sleeper *sleeper_at(uint32_t position)
{
	return takes_part[position] ? &sleepers[position] : NULL;
}

static void enable_timer(void *unused)
{
	(void)unused;
	gic->enable(platform.timer_intid);
}

/* The SGI that wakes a core has done its job once it has ended the suspend. */
TIMED static void woken(uint32_t intid, uint32_t source, uint64_t stamp)
{
	(void)intid;
	(void)source;
	(void)stamp;
}

UNTIMED const char *sleepers_prepare(void)
{
	if (gic == NULL || platform.timer_intid == 0) {
		return "the device tree describes no timer interrupt that could end it";
	}
	overdue_ticks = counter_hz() * OVERDUE_MS / 1000;
	for (uint32_t position = 0; position < smp_online_count(); position++) {
		if (!smp_call(smp_online_cpu(position), enable_timer, NULL, ENABLE_MS)) {
			return "a core does not enable its timer's interrupt";
		}
	}
	return NULL;
}

TIMED_BETWEEN void sleepers_take_interrupts(void)
{
	gic_set_handler(GIC_SGI_BENCH, woken);
}

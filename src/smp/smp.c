/*
 * Other cores: bring-up through PSCI CPU_ON, and the hand-out of work. Promises that a core which
 * does not come up in time is left out for good, even if it turns up later, and that an idle core
 * misses no work.
 */
#include "el1bench/smp.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#include "el1bench/barrier.h"
#include "el1bench/counter.h"
#include "el1bench/cpu.h"
#include "el1bench/gic.h"
#include "el1bench/mmu.h"
#include "el1bench/platform.h"
#include "el1bench/psci.h"
#include "el1bench/timed.h"
#include "el1bench/wait.h"
#include "mailbox.h"

#define POLLS_AWAKE 65536U
#define START_TIMEOUT_MS 1000 /* for all cores together; milliseconds in practice */

struct mailbox mailboxes[CPU_MAX];
uint64_t smp_entry_address;
static uint32_t online_list[CPU_MAX];
static uint32_t online_count = 1; /* core 0, which is online_list[0] */

/* The work SGI has done its job once it has ended the core's WFI. */
TIMED static void work_interrupt(uint32_t intid, uint32_t source, uint64_t stamp)
{
	(void)intid;
	(void)source;
	(void)stamp;
}

TIMED void smp_pause(const struct deadline *deadline)
{
	if (DEADLINE_POLLS - deadline->polls < POLLS_AWAKE) {
		cpu_yield();
	} else {
		wait_ms(1);
	}
}

TIMED bool smp_leave_starting(struct mailbox *mailbox, enum core_state next)
{
	uint32_t expected = CORE_STARTING;

	return __atomic_compare_exchange_n(&mailbox->state, &expected, next, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

/* Asks firmware to take the calling core down; waits for ever where it will not. */
static void __attribute__((noreturn)) stop_this_core(void)
{
	irq_mask();
	(void)psci_call(PSCI_CPU_OFF, 0, 0, 0);
	for (;;) {
		wfi();
	}
}

/*
 * Takes work, for ever. The check and the WFI both happen with interrupts masked: an SGI that comes
 * after the check stays pending and ends the WFI at once, so no wake-up is lost.
 */
TIMED static void __attribute__((noreturn)) take_work(struct mailbox *mailbox)
{
	for (;;) {
		uint32_t posted;

		irq_mask();
		posted = __atomic_load_n(&mailbox->posted, __ATOMIC_ACQUIRE);
		if (posted == mailbox->done) {
			wfi();
			irq_unmask();
			isb(); /* the interrupt that ended the wait is taken here */
			continue;
		}
		irq_unmask();
		mailbox->function(mailbox->argument);
		__atomic_store_n(&mailbox->done, posted, __ATOMIC_RELEASE);
	}
}

void smp_secondary_main(uint32_t index)
{
	struct mailbox *mailbox = &mailboxes[index];
	const char *reason = NULL;

	mailbox->stamp = counter_end();
	if (!gic->start_cpu(index, &reason)) {
		mailbox->reason = reason;
		(void)smp_leave_starting(mailbox, CORE_REFUSED);
		stop_this_core();
	}
	cpu_current()->online = 1;
	if (!smp_leave_starting(mailbox, CORE_READY)) {
		cpu_current()->online = 0;
		stop_this_core();
	}
	take_work(mailbox);
}

/* Why a core that CPU_ON accepted has not come up. */
static void describe_absence(char *text, size_t bytes, uint32_t index)
{
	int64_t state = psci_call(PSCI_AFFINITY_INFO, platform.cpus[index].target, 0, 0);
	static const char *const states[] = {"ON", "OFF", "ON_PENDING"};
	const char *name = psci_result_name(state);

	if (state >= 0 && state < 3) {
		name = states[state];
	}
	snprintf(text, bytes, "CPU_ON was accepted, no sign of it in %d ms; AFFINITY_INFO: %s",
		 START_TIMEOUT_MS, name);
}

/* Calls CPU_ON; false, with `failed` told why, if firmware refuses. */
static bool switch_on(uint32_t index, void (*failed)(uint32_t cpu, const char *reason))
{
	uint64_t target = platform.cpus[index].target;
	char text[96];
	int64_t result;

	if (gic == NULL) {
		failed(index, "not started: there is no interrupt controller to wake it with");
		return false;
	}
	if (psci_version() == 0) {
		failed(index, "not started: there is no PSCI firmware to start it");
		return false;
	}
	__atomic_store_n(&mailboxes[index].state, CORE_STARTING, __ATOMIC_RELEASE);
	dsb_sy();
	result = psci_call(PSCI_CPU_ON, target, smp_entry_address, index);
	if (result == PSCI_SUCCESS) {
		return true;
	}
	__atomic_store_n(&mailboxes[index].state, CORE_OFF, __ATOMIC_RELEASE);
	snprintf(text, sizeof(text), "CPU_ON of 0x%" PRIx64 " returned %s (%d)", target,
		 psci_result_name(result), (int)result);
	failed(index, text);
	return false;
}

/*
 * Waits for a core that CPU_ON accepted; false, with `failed` told why, if it does not take part.
 */
static bool wait_for(uint32_t index, struct deadline *deadline,
		     void (*failed)(uint32_t cpu, const char *reason))
{
	struct mailbox *mailbox = &mailboxes[index];
	char text[96];

	while (__atomic_load_n(&mailbox->state, __ATOMIC_ACQUIRE) == CORE_STARTING) {
		if (deadline_passed(deadline) && smp_leave_starting(mailbox, CORE_ABANDONED)) {
			describe_absence(text, sizeof(text), index);
			failed(index, text);
			return false;
		}
		smp_pause(deadline);
	}
	if (__atomic_load_n(&mailbox->state, __ATOMIC_ACQUIRE) != CORE_READY) {
		snprintf(text, sizeof(text), "started, but %s", mailbox->reason);
		failed(index, text);
		return false;
	}
	return true;
}

UNTIMED uint32_t smp_start(void (*failed)(uint32_t cpu, const char *reason))
{
	bool accepted[CPU_MAX] = {false};
	struct deadline deadline;

	online_count = 1;
	cpus[0].online = 1;
	smp_entry_address = mmu_secondary_entry();
	gic_set_handler(GIC_SGI_WORK, work_interrupt);
	/* All are switched on first, so that they start side by side and share one time-out. */
	for (uint32_t index = 1; index < platform.cpu_count; index++) {
		accepted[index] = switch_on(index, failed);
	}
	deadline = deadline_in_ms(START_TIMEOUT_MS);
	for (uint32_t index = 1; index < platform.cpu_count; index++) {
		if (accepted[index] && wait_for(index, &deadline, failed)) {
			online_list[online_count] = index;
			online_count++;
		}
	}
	return online_count;
}

TIMED uint32_t smp_online_count(void)
{
	return online_count;
}

TIMED uint32_t smp_online_cpu(uint32_t position)
{
	return online_list[position];
}

TIMED bool smp_is_online(uint32_t cpu)
{
	return cpu == 0 || (cpu < CPU_MAX &&
			    __atomic_load_n(&mailboxes[cpu].state, __ATOMIC_ACQUIRE) == CORE_READY);
}

TIMED bool smp_post(uint32_t cpu, smp_function function, void *argument)
{
	struct mailbox *mailbox = &mailboxes[cpu];

	if (mailbox->state != CORE_READY || !smp_idle(cpu)) {
		return false;
	}
	mailbox->function = function;
	mailbox->argument = argument;
	__atomic_store_n(&mailbox->posted, mailbox->posted + 1, __ATOMIC_RELEASE);
	gic->send(cpu, GIC_SGI_WORK);
	return true;
}

TIMED bool smp_idle(uint32_t cpu)
{
	const struct mailbox *mailbox = &mailboxes[cpu];

	return mailbox->posted == __atomic_load_n(&mailbox->done, __ATOMIC_ACQUIRE);
}

/* The long half of a wait. */
TIMED static bool wait_on(uint32_t cpu, uint64_t end)
{
	struct deadline deadline = {.end = end, .polls = DEADLINE_POLLS - POLLS_AWAKE};

	while (!smp_idle(cpu)) {
		if (deadline_passed(&deadline)) {
			return false;
		}
		smp_pause(&deadline);
	}
	return true;
}

TIMED bool smp_wait(uint32_t cpu, uint32_t milliseconds)
{
	struct deadline deadline = deadline_in_ms_inline(milliseconds);

	deadline.polls = POLLS_AWAKE;
	while (!smp_idle(cpu)) {
		if (deadline_passed(&deadline)) {
			return wait_on(cpu, deadline.end);
		}
		cpu_yield();
	}
	return true;
}

TIMED bool smp_call(uint32_t cpu, smp_function function, void *argument, uint32_t milliseconds)
{
	if (cpu == 0) {
		function(argument);
		return true;
	}
	return smp_post(cpu, function, argument) && smp_wait(cpu, milliseconds);
}

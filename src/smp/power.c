/*
 * Cores switched off and on again while a run goes on. Promises that every call ends in bounded
 * time, and that a core which does not come back is out for good, even if it turns up later.
 */
#include <stddef.h>

#include "el1bench/barrier.h"
#include "el1bench/counter.h"
#include "el1bench/cpu.h"
#include "el1bench/mmu.h"
#include "el1bench/platform.h"
#include "el1bench/poll.h"
#include "el1bench/psci.h"
#include "el1bench/rendezvous.h"
#include "el1bench/timed.h"
#include "mailbox.h"

#define POWER_TIMEOUT_MS 1000
#define AFFINITY_OFF 1

static struct rendezvous leaving;

/* On the core, as work: it only comes back if firmware refuses. */
TIMED static void switch_off(void *argument)
{
	struct mailbox *mailbox = &mailboxes[cpu_index()];

	(void)argument;
	irq_mask();
	mailbox->result = PSCI_INTERNAL_FAILURE;
	if (rendezvous_meet(&leaving)) {
		mailbox->stamp = counter_begin();
		mailbox->result = psci_call(PSCI_CPU_OFF, 0, 0, 0);
	}
	irq_unmask();
}

TIMED static void set_state(struct mailbox *mailbox, enum core_state state)
{
	__atomic_store_n(&mailbox->state, state, __ATOMIC_RELEASE);
}

/* Looks once how far a core has come. */
TIMED static enum smp_power_result look_at_leaving(struct smp_power *power,
						   struct deadline *deadline)
{
	uint32_t cpu = power->cpu;
	struct mailbox *mailbox = &mailboxes[cpu];

	if (psci_call(PSCI_AFFINITY_INFO, platform.cpus[cpu].target, 0, 0) == AFFINITY_OFF) {
		power->end = counter_end();
		power->begin = mailbox->stamp;
		mailbox->done = mailbox->posted; /* the core is not there to say so */
		set_state(mailbox, CORE_OFF);
		return SMP_POWER_DONE;
	}
	if (smp_idle(cpu)) {
		power->result = mailbox->result;
		set_state(mailbox, CORE_READY);
		return SMP_POWER_REFUSED;
	}
	if (deadline_passed(deadline)) {
		set_state(mailbox, CORE_ABANDONED);
		return SMP_POWER_LOST;
	}
	return SMP_POWER_LEAVING;
}

TIMED void smp_power_off_together(struct smp_power *powers, uint32_t count)
{
	struct deadline deadline = deadline_in_ms(POWER_TIMEOUT_MS);
	uint32_t left = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t cpu = powers[i].cpu;
		bool there = cpu != 0 && mailboxes[cpu].state == CORE_READY && smp_idle(cpu);

		powers[i].result = PSCI_SUCCESS;
		powers[i].done = there ? SMP_POWER_LEAVING : SMP_POWER_BUSY;
		left += there;
	}
	rendezvous_start(&leaving, left);
	for (uint32_t i = 0; i < count; i++) {
		if (powers[i].done == SMP_POWER_LEAVING) {
			(void)smp_post(powers[i].cpu, switch_off, NULL);
			set_state(&mailboxes[powers[i].cpu], CORE_STOPPING);
		}
	}
	while (left > 0) {
		for (uint32_t i = 0; i < count; i++) {
			if (powers[i].done == SMP_POWER_LEAVING) {
				powers[i].done = look_at_leaving(&powers[i], &deadline);
				left -= powers[i].done != SMP_POWER_LEAVING;
			}
		}
		smp_pause(&deadline);
	}
}

TIMED enum smp_power_result smp_power_off(uint32_t cpu, struct smp_power *power)
{
	power->cpu = cpu;
	smp_power_off_together(power, 1);
	return power->done;
}

TIMED enum smp_power_result smp_power_on(uint32_t cpu, struct smp_power *power)
{
	struct mailbox *mailbox = &mailboxes[cpu];
	uint64_t target = platform.cpus[cpu].target;
	uint64_t entry = smp_entry_address;
	struct deadline deadline;

	power->result = PSCI_SUCCESS;
	if (cpu == 0 || mailbox->state != CORE_OFF) {
		return SMP_POWER_BUSY;
	}
	set_state(mailbox, CORE_STARTING);
	dsb_sy();
	power->begin = counter_begin();
	power->result = psci_call(PSCI_CPU_ON, target, entry, cpu);
	if (power->result != PSCI_SUCCESS) {
		set_state(mailbox, CORE_OFF);
		return SMP_POWER_REFUSED;
	}
	deadline = deadline_in_ms(POWER_TIMEOUT_MS);
	while (__atomic_load_n(&mailbox->state, __ATOMIC_ACQUIRE) == CORE_STARTING) {
		if (deadline_passed(&deadline) && smp_leave_starting(mailbox, CORE_ABANDONED)) {
			return SMP_POWER_LOST;
		}
		smp_pause(&deadline);
	}
	if (mailbox->state != CORE_READY) {
		return SMP_POWER_LOST;
	}
	power->entry = cpus[cpu].entry_stamp;
	power->end = mailbox->stamp;
	return SMP_POWER_DONE;
}

TIMED bool smp_power_restore(uint32_t cpu)
{
	struct smp_power power;

	return mailboxes[cpu].state != CORE_OFF || smp_power_on(cpu, &power) == SMP_POWER_DONE;
}

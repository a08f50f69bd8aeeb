/*
 * Power-down suspends for TF-A's port to QEMU's `virt` machine, whose own hooks are empty. Built
 * into BL31 by scripts/el1bench_host/tf_a.py, in the place of those.
 *
 * The machine has no power controller: a core that is to lose its power waits in WFI, and then
 * enters BL31 by its warm entry point with its MMU off, as a core does whose power has come back.
 */
#include <stdbool.h>

#include <arch_helpers.h>
#include <lib/psci/psci.h>
#include <plat/common/platform.h>
#include <platform_def.h>

void qemu_suspend_wait(void);
void qemu_pwr_domain_suspend(const psci_power_state_t *target_state);
void qemu_pwr_domain_suspend_finish(const psci_power_state_t *target_state);

static volatile bool suspending[PLATFORM_CORE_COUNT];

void qemu_pwr_domain_suspend(const psci_power_state_t *target_state)
{
	suspending[plat_my_core_pos()] = true;
}

/* On the way to a low-power state; returns if the core is going off. */
void qemu_suspend_wait(void)
{
	unsigned int core = plat_my_core_pos();
	void (*warm_entry)(void) = *(void (**)(void))PLAT_QEMU_TRUSTED_MAILBOX_BASE;

	if (!suspending[core]) {
		return;
	}
	suspending[core] = false;
	dsb();
	while (read_isr_el1() == 0U) {
		wfi();
	}
	disable_mmu_el3();
	warm_entry();
}

/* The interrupt controller has kept its state. */
void qemu_pwr_domain_suspend_finish(const psci_power_state_t *target_state)
{
}

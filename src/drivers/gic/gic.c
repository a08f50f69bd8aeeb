/*
 * The version-independent part of the interrupt controller: which driver is in use, and the table
 * of handlers that both dispatch through.
 */
#include "el1bench/gic.h"

#include <stddef.h>

#include "driver.h"
#include "el1bench/cpu.h"

const struct gic_operations *gic;

/* An interrupt that nobody asked for: counted on the core that took it. */
TIMED static void unhandled(uint32_t intid, uint32_t source, uint64_t stamp)
{
	(void)intid;
	(void)source;
	(void)stamp;
	cpu_current()->spurious_interrupts++;
}

struct gic_hot gic_hot = {
	.handlers = {[0 ... GIC_INTID_COUNT - 1] = unhandled},
};

bool gic_start(const struct gic_description *description, const char **reason)
{
	const struct gic_operations *driver = description->version == 3 ? &gic_v3 : &gic_v2;

	gic = NULL;
	if (description->version != driver->version) {
		*reason = "no driver for this version of the GIC";
		return false;
	}
	if (!driver->start(description, reason) || !driver->start_cpu(cpu_index(), reason)) {
		return false;
	}
	gic = driver;
	return true;
}

TIMED void gic_set_handler(uint32_t intid, gic_handler handler)
{
	if (intid < GIC_INTID_COUNT) {
		__atomic_store_n(&gic_hot.handlers[intid], handler != NULL ? handler : unhandled,
				 __ATOMIC_RELEASE);
	}
}

const char *gic_broadcast_method(void)
{
	if (gic == NULL) {
		return "none";
	}
	return gic->version == 3 ? "irm" : "filter";
}

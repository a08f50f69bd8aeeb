/*
 * The version-independent part of the interrupt controller: which driver is in use, and the table
 * of handlers that both dispatch through.
 */
#include "el1bench/gic.h"

#include <stddef.h>

#include "driver.h"
#include "el1bench/cpu.h"
#include "el1bench/mmio.h"

const struct gic_operations *gic;

#define GICD_IIDR 0x008 /* the same in all versions */

static uint32_t identification;

/* An interrupt that nobody asked for: counted on the core that took it. */
TIMED static void unhandled(uint32_t intid, uint32_t source, uint64_t stamp)
{
	(void)intid;
	(void)source;
	(void)stamp;
	cpu_current()->spurious_interrupts++;
}

struct gic_hot gic_hot = {
	.handlers = {[0 ... GIC_INTID_COUNT - 1] = interrupt_call},
};

gic_handler gic_handlers[GIC_INTID_COUNT] = {[0 ... GIC_INTID_COUNT - 1] = unhandled};

struct gic_stages gic_stages[CPU_MAX];

_Static_assert(offsetof(struct gic_stages, entry) == GIC_STAGES_ENTRY, "gic.h");
_Static_assert(offsetof(struct gic_stages, acknowledged) == GIC_STAGES_ACKNOWLEDGED, "gic.h");
_Static_assert(offsetof(struct gic_stages, handled) == GIC_STAGES_HANDLED, "gic.h");
_Static_assert(offsetof(struct gic_stages, ended) == GIC_STAGES_ENDED, "gic.h");
_Static_assert(offsetof(struct gic_hot, cpu_interface) == GIC_HOT_CPU_INTERFACE, "hot.h");

/* Where the linker puts what is marked INTERRUPT_HANDLER. */
extern const char light_handlers_start[], light_handlers_end[];

UNTIMED bool gic_start(const struct gic_description *description, const char **reason)
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
	identification = read32(description->distributor, GICD_IIDR);
	gic = driver;
	return true;
}

TIMED void gic_set_handler(uint32_t intid, gic_handler handler)
{
	uintptr_t address = (uintptr_t)handler;
	bool light = address >= (uintptr_t)light_handlers_start &&
		     address < (uintptr_t)light_handlers_end;

	if (intid < GIC_INTID_COUNT) {
		/* In this order, since the interrupt may come in between on another core. */
		gic_handlers[intid] = handler != NULL ? handler : unhandled;
		__atomic_store_n(&gic_hot.handlers[intid], light ? handler : interrupt_call,
				 __ATOMIC_RELEASE);
	}
}

TIMED void gic_set_staged(bool staged)
{
	exception_set_irq_entry(staged ? gic->staged_entry : gic->entry);
}

uint32_t gic_identification(void)
{
	return identification;
}

const char *gic_broadcast_method(void)
{
	if (gic == NULL) {
		return "none";
	}
	return gic->version == 3 ? "irm" : "filter";
}

/*
 * GICv2 (IHI 0048B), GIC-400 included, from EL1: at most eight cores. Promises that an interrupt is
 * ended with the whole value that acknowledged it (the source core of an SGI included), and that a
 * core's bit in a target list is the one the hardware names, never derived from MPIDR.
 *
 * Works in the non-secure view and on a GIC without the Security Extensions: bit 0 of GICD_CTLR and
 * of GICC_CTLR enables the group that the image's interrupts belong to in both.
 */
#include <stddef.h>

#include "driver.h"
#include "el1bench/barrier.h"
#include "el1bench/exception.h"
#include "el1bench/mmio.h"

#define CORES_MAX 8

#define GICD_CTLR 0x000
#define GICD_CTLR_ENABLE (1U << 0)
#define GICD_TYPER 0x004
#define GICD_TYPER_LINES(typer) (((typer)&0x1fU) + 1U) /* in units of 32 */
#define GICD_TYPER_CORES(typer) ((((typer) >> 5) & 0x7U) + 1U)
#define GICD_ISENABLER 0x100
#define GICD_ICENABLER 0x180
#define GICD_ISPENDR 0x200
#define GICD_ICPENDR 0x280
#define GICD_ISACTIVER 0x300
#define GICD_ICACTIVER 0x380
#define GICD_IPRIORITYR 0x400
#define GICD_ITARGETSR 0x800
#define GICD_SGIR 0xf00
#define GICD_SGIR_TARGETS(mask) ((mask) << 16)
#define GICD_SGIR_ALL_OTHERS (1U << 24)
#define GICD_SGIR_SELF (2U << 24)
#define GICD_CPENDSGIR 0xf10

#define GICC_CTLR 0x000
#define GICC_CTLR_ENABLE (1U << 0)
#define GICC_CTLR_BYPASS 0x1e0U /* the legacy bypass bits: firmware's, kept */
#define GICC_PMR 0x004
#define GICC_BPR 0x008
#define GICC_APR 0x0d0

static struct {
	uint32_t target[CORES_MAX]; /* GICD_SGIR without the INTID: reaches that core */
	volatile void *distributor;
	uint32_t enabled[CORES_MAX]; /* SGIs and PPIs; 0 until the core's first start_cpu */
} v2;

UNTIMED static bool v2_start(const struct gic_description *description, const char **reason)
{
	volatile void *distributor = description->distributor;
	uint32_t lines;

	if (distributor == NULL || description->cpu_interface == NULL) {
		*reason = "the GICv2 lacks a distributor or a CPU interface in the device tree";
		return false;
	}
	v2.distributor = distributor;
	gic_hot.cpu_interface = description->cpu_interface;
	for (uint32_t core = 0; core < CORES_MAX; core++) {
		v2.enabled[core] = 0;
	}

	write32(distributor, GICD_CTLR, 0);
	/* Firmware may have left shared interrupts on (U-Boot's `go` stops nothing). */
	lines = GICD_TYPER_LINES(read32(distributor, GICD_TYPER));
	for (uint32_t word = 1; word < lines; word++) {
		write32(distributor, GICD_ICENABLER + 4 * word, UINT32_MAX);
	}
	write32(distributor, GICD_CTLR, GICD_CTLR_ENABLE);
	if ((read32(distributor, GICD_CTLR) & GICD_CTLR_ENABLE) == 0) {
		*reason = "GICD_CTLR of the GICv2 cannot be enabled";
		return false;
	}
	exception_set_irq_entry(interrupt_v2);
	return true;
}

/* The calling core's bit in target lists, from the banked GICD_ITARGETSR0 to 7; 0 if not told. */
TIMED static uint32_t v2_own_target_mask(void)
{
	for (uint32_t word = 0; word < GIC_INTID_COUNT / 4; word++) {
		uint32_t targets = read32(v2.distributor, GICD_ITARGETSR + 4 * word);

		targets |= targets >> 16;
		targets |= targets >> 8;
		if ((targets & 0xffU) != 0) {
			return targets & 0xffU;
		}
	}
	return 0;
}

TIMED static bool v2_start_cpu(uint32_t cpu, const char **reason)
{
	volatile void *distributor = v2.distributor;
	volatile void *cpu_interface = gic_hot.cpu_interface;
	uint32_t mask;

	if (cpu >= CORES_MAX) {
		*reason = "a GICv2 has at most 8 CPU interfaces";
		return false;
	}
	mask = v2_own_target_mask();
	if (mask != 0 && (mask & (mask - 1)) == 0) {
		v2.target[cpu] = GICD_SGIR_TARGETS(mask);
	} else if (mask == 0 && GICD_TYPER_CORES(read32(distributor, GICD_TYPER)) == 1) {
		/* With a single CPU interface, target registers read as zero. */
		v2.target[cpu] = GICD_SGIR_SELF;
	} else {
		*reason = "GICD_ITARGETSR0 does not name this core's CPU interface";
		return false;
	}

	write32(cpu_interface, GICC_CTLR, read32(cpu_interface, GICC_CTLR) & GICC_CTLR_BYPASS);
	if (v2.enabled[cpu] == 0) {
		/*
		 * The core's first start: whatever firmware left behind goes. Later, after a
		 * power-down, a pending interrupt may be the one that woke the core.
		 */
		v2.enabled[cpu] = GIC_SGIS_USED;
		for (uint32_t word = 0; word < GIC_SGI_COUNT / 4; word++) {
			write32(distributor, GICD_CPENDSGIR + 4 * word, UINT32_MAX);
		}
		write32(distributor, GICD_ICPENDR, UINT32_MAX);
		write32(distributor, GICD_ICACTIVER, UINT32_MAX);
	}
	write32(distributor, GICD_ICENABLER, ~v2.enabled[cpu]);
	for (uint32_t word = 0; word < GIC_INTID_COUNT / 4; word++) {
		write32(distributor, GICD_IPRIORITYR + 4 * word, GIC_PRIORITIES);
	}
	write32(distributor, GICD_ISENABLER, v2.enabled[cpu]);

	for (uint32_t word = 0; word < 4; word++) {
		write32(cpu_interface, GICC_APR + 4 * word, 0);
	}
	write32(cpu_interface, GICC_PMR, GIC_PRIORITY_MASK);
	write32(cpu_interface, GICC_BPR, 0);
	write32(cpu_interface, GICC_CTLR,
		(read32(cpu_interface, GICC_CTLR) & GICC_CTLR_BYPASS) | GICC_CTLR_ENABLE);
	dsb_sy();
	return true;
}

TIMED static void v2_send(uint32_t cpu, uint32_t intid)
{
	uint32_t value = v2.target[cpu] | intid;

	dsb_ishst();
	write32(v2.distributor, GICD_SGIR, value);
}

TIMED static void v2_send_others(uint32_t intid)
{
	dsb_ishst();
	write32(v2.distributor, GICD_SGIR, GICD_SGIR_ALL_OTHERS | intid);
}

TIMED static void v2_send_behind_sy(uint32_t cpu, uint32_t intid)
{
	uint32_t value = v2.target[cpu] | intid;

	dsb_sy();
	write32(v2.distributor, GICD_SGIR, value);
}

TIMED static void v2_send_behind_none(uint32_t cpu, uint32_t intid)
{
	write32(v2.distributor, GICD_SGIR, v2.target[cpu] | intid);
}

TIMED static void v2_add_to_list(struct gic_list *list, uint32_t cpu, uint32_t intid)
{
	uint32_t value = v2.target[cpu] | intid;

	list->values[0] = list->count == 0 ? value : list->values[0] | value;
	list->count = 1;
}

TIMED static void v2_send_list(const struct gic_list *list)
{
	uint32_t value = (uint32_t)list->values[0];

	dsb_ishst();
	write32(v2.distributor, GICD_SGIR, value);
}

TIMED static void v2_enable(uint32_t intid)
{
	v2.enabled[cpu_index()] |= 1U << intid;
	write32(v2.distributor, GICD_ISENABLER, 1U << intid);
	dsb_sy();
}

TIMED static bool v2_pending(uint32_t intid)
{
	uint32_t bits = read32(v2.distributor, GICD_ISPENDR);

	bits |= read32(v2.distributor, GICD_ISACTIVER);
	return (bits >> intid & 1U) != 0;
}

const struct gic_operations gic_v2 = {
	.version = 2,
	.entry = interrupt_v2,
	.staged_entry = interrupt_v2_staged,
	.start = v2_start,
	.start_cpu = v2_start_cpu,
	.send = v2_send,
	.send_others = v2_send_others,
	.send_behind = {v2_send, v2_send_behind_sy, v2_send_behind_none},
	.add_to_list = v2_add_to_list,
	.send_list = v2_send_list,
	.enable = v2_enable,
	.pending = v2_pending,
};

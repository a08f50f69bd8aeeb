/*
 * GICv3 and GICv4 (IHI 0069) through the system registers, affinity routing on, Group 1 only, from
 * EL1: non-secure, or the only security state there is (GICD_CTLR.DS). Promises that a core finds
 * its redistributor by its affinity, and that an SGI names its target by the affinity which the
 * target read on itself.
 *
 * The boot code has set ICC_SRE_EL2.Enable where the image came in at EL2.
 */
#include <stddef.h>

#include "driver.h"
#include "el1bench/barrier.h"
#include "el1bench/exception.h"
#include "el1bench/mmio.h"
#include "el1bench/sysreg.h"

#define GICD_CTLR 0x0000
#define GICD_CTLR_ENABLE_GROUP_1A (1U << 1) /* EnableGrp1A; where DS is set, EnableGrp1 */
#define GICD_CTLR_ARE (1U << 4)             /* ARE_NS; where DS is set, ARE */
#define GICD_CTLR_RWP (1U << 31)
#define GICD_TYPER 0x0004
#define GICD_TYPER_LINES(typer) (((typer)&0x1fU) + 1U) /* in units of 32 */
#define GICD_TYPER_RSS (1U << 26)
#define GICD_ICENABLER 0x0180
#define GICD_PIDR2 0xffe8
#define GICD_PIDR2_ARCHITECTURE(pidr2) (((pidr2) >> 4) & 0xfU)

#define GICR_CTLR 0x0000
#define GICR_CTLR_RWP (1U << 3)
#define GICR_TYPER 0x0008
#define GICR_TYPER_VLPIS (UINT64_C(1) << 1) /* four frames instead of two */
#define GICR_TYPER_LAST (UINT64_C(1) << 4)
#define GICR_TYPER_AFFINITY(typer) ((uint32_t)((typer) >> 32))
#define GICR_WAKER 0x0014
#define GICR_WAKER_PROCESSOR_SLEEP (1U << 1)
#define GICR_WAKER_CHILDREN_ASLEEP (1U << 2)
#define GICR_FRAME_BYTES 0x10000U
/* In the second frame: */
#define GICR_IGROUPR0 (GICR_FRAME_BYTES + 0x0080)
#define GICR_ISENABLER0 (GICR_FRAME_BYTES + 0x0100)
#define GICR_ICENABLER0 (GICR_FRAME_BYTES + 0x0180)
#define GICR_ISPENDR0 (GICR_FRAME_BYTES + 0x0200)
#define GICR_ICPENDR0 (GICR_FRAME_BYTES + 0x0280)
#define GICR_ISACTIVER0 (GICR_FRAME_BYTES + 0x0300)
#define GICR_ICACTIVER0 (GICR_FRAME_BYTES + 0x0380)
#define GICR_IPRIORITYR (GICR_FRAME_BYTES + 0x0400)
#define GICR_IGRPMODR0 (GICR_FRAME_BYTES + 0x0d00)

#define ID_AA64PFR0_GIC(value) (((value) >> 24) & 0xfU)
#define ICC_SRE_ENABLE UINT64_C(1)
#define ICC_CTLR_EOIMODE (UINT64_C(1) << 1)
#define ICC_CTLR_RSS (UINT64_C(1) << 18)
#define ICC_SGI1R_INTID(intid) ((uint64_t)(intid) << 24)
#define ICC_SGI1R_TARGETS UINT64_C(0xffff)
#define ICC_SGI1R_IRM (UINT64_C(1) << 40) /* all but the sender */

static struct {
	uint64_t target[CPU_MAX]; /* ICC_SGI1R_EL1 without the INTID: reaches that core */
	volatile void *distributor;
	struct gic_description description;
	volatile void *redistributor[CPU_MAX];
	uint32_t enabled[CPU_MAX]; /* SGIs and PPIs; 0 until the core's first start_cpu */
} v3;

/* Waits until `bits` of a register read as zero; false if they do not. */
TIMED static bool v3_wait_clear(volatile void *base, uint32_t offset, uint32_t bits)
{
	struct deadline deadline = deadline_in_ms(GIC_WAIT_MS);

	while ((read32(base, offset) & bits) != 0) {
		if (deadline_passed(&deadline)) {
			return false;
		}
		cpu_yield();
	}
	return true;
}

UNTIMED static bool v3_start(const struct gic_description *description, const char **reason)
{
	volatile void *distributor = description->distributor;
	const uint32_t enable = GICD_CTLR_ARE | GICD_CTLR_ENABLE_GROUP_1A;
	uint32_t architecture;
	uint32_t lines;

	if (distributor == NULL || description->redistributor_count == 0) {
		*reason = "the GICv3 lacks a distributor or redistributors in the device tree";
		return false;
	}
	architecture = GICD_PIDR2_ARCHITECTURE(read32(distributor, GICD_PIDR2));
	if (architecture != 3 && architecture != 4) {
		*reason = "GICD_PIDR2 is not that of a GICv3 or GICv4";
		return false;
	}
	v3.distributor = distributor;
	v3.description = *description;
	for (uint32_t core = 0; core < CPU_MAX; core++) {
		v3.enabled[core] = 0;
	}

	/* Affinity routing may change only while the groups are off. */
	write32(distributor, GICD_CTLR, read32(distributor, GICD_CTLR) & GICD_CTLR_ARE);
	if (!v3_wait_clear(distributor, GICD_CTLR, GICD_CTLR_RWP)) {
		*reason = "GICD_CTLR.RWP stays set: the distributor does not switch off";
		return false;
	}
	/* Firmware may have left shared interrupts on (U-Boot's `go` stops nothing). */
	lines = GICD_TYPER_LINES(read32(distributor, GICD_TYPER));
	for (uint32_t word = 1; word < lines; word++) {
		write32(distributor, GICD_ICENABLER + 4 * word, UINT32_MAX);
	}
	write32(distributor, GICD_CTLR, GICD_CTLR_ARE);
	write32(distributor, GICD_CTLR, enable);
	if (!v3_wait_clear(distributor, GICD_CTLR, GICD_CTLR_RWP)) {
		*reason = "GICD_CTLR.RWP stays set: the distributor does not switch on";
		return false;
	}
	if ((read32(distributor, GICD_CTLR) & enable) != enable) {
		*reason = "GICD_CTLR does not take affinity routing and Group 1";
		return false;
	}
	exception_set_irq_entry(interrupt_v3);
	return true;
}

/* MPIDR_EL1's Aff3 to Aff0 in one word, as GICR_TYPER has them. */
TIMED static uint32_t v3_affinity(uint64_t mpidr)
{
	return (uint32_t)(mpidr & 0xffffffU) | (uint32_t)(mpidr >> 32 & 0xffU) << 24;
}

/* The redistributor of the core with that affinity, or NULL. */
TIMED static volatile void *v3_find_redistributor(uint32_t affinity)
{
	const struct gic_description *description = &v3.description;

	for (uint32_t region = 0; region < description->redistributor_count; region++) {
		volatile uint8_t *base = description->redistributors[region].base;
		uint64_t left = description->redistributors[region].bytes;

		while (base != NULL && left >= 2 * GICR_FRAME_BYTES) {
			uint64_t typer = read64(base, GICR_TYPER);
			uint64_t bytes = (typer & GICR_TYPER_VLPIS) != 0 ? 4 * GICR_FRAME_BYTES
									 : 2 * GICR_FRAME_BYTES;

			if (GICR_TYPER_AFFINITY(typer) == affinity) {
				return base;
			}
			if ((typer & GICR_TYPER_LAST) != 0 || bytes >= left) {
				break;
			}
			base += bytes;
			left -= bytes;
		}
	}
	return NULL;
}

/* SGIs and PPIs of the calling core, which are its redistributor's business. */
TIMED static bool v3_start_redistributor(uint32_t cpu, volatile void *redistributor,
					 const char **reason)
{
	write32(redistributor, GICR_WAKER,
		read32(redistributor, GICR_WAKER) & ~GICR_WAKER_PROCESSOR_SLEEP);
	if (!v3_wait_clear(redistributor, GICR_WAKER, GICR_WAKER_CHILDREN_ASLEEP)) {
		*reason = "GICR_WAKER.ChildrenAsleep stays set: the redistributor does not wake";
		return false;
	}
	if (v3.enabled[cpu] == 0) {
		/*
		 * The core's first start: whatever firmware left behind goes. Later, after a
		 * power-down, a pending interrupt may be the one that woke the core.
		 */
		v3.enabled[cpu] = GIC_SGIS_USED;
		write32(redistributor, GICR_ICENABLER0, UINT32_MAX);
		write32(redistributor, GICR_ICPENDR0, UINT32_MAX);
		write32(redistributor, GICR_ICACTIVER0, UINT32_MAX);
	}
	write32(redistributor, GICR_ICENABLER0, ~v3.enabled[cpu]);
	/* Both ignore writes from non-secure software where security is on. */
	write32(redistributor, GICR_IGROUPR0, UINT32_MAX);
	write32(redistributor, GICR_IGRPMODR0, 0);
	for (uint32_t word = 0; word < GIC_INTID_COUNT / 4; word++) {
		write32(redistributor, GICR_IPRIORITYR + 4 * word, GIC_PRIORITIES);
	}
	write32(redistributor, GICR_ISENABLER0, v3.enabled[cpu]);
	if (!v3_wait_clear(redistributor, GICR_CTLR, GICR_CTLR_RWP)) {
		*reason = "GICR_CTLR.RWP stays set: the redistributor does not take writes";
		return false;
	}
	return true;
}

TIMED static bool v3_start_cpu(uint32_t cpu, const char **reason)
{
	uint64_t mpidr = SYSREG_READ(mpidr_el1);
	uint32_t affinity = v3_affinity(mpidr);
	uint64_t aff0 = affinity & 0xffU;
	uint64_t control;

	if (ID_AA64PFR0_GIC(SYSREG_READ(id_aa64pfr0_el1)) == 0) {
		*reason = "the core has no GIC system registers, though the tree says GICv3";
		return false;
	}
	v3.redistributor[cpu] = v3_find_redistributor(affinity);
	if (v3.redistributor[cpu] == NULL) {
		*reason = "no GICR_TYPER names this core's affinity";
		return false;
	}

	SYSREG_WRITE(icc_sre_el1, SYSREG_READ(icc_sre_el1) | ICC_SRE_ENABLE);
	isb();
	if ((SYSREG_READ(icc_sre_el1) & ICC_SRE_ENABLE) == 0) {
		*reason = "ICC_SRE_EL1.SRE cannot be set";
		return false;
	}
	SYSREG_WRITE(icc_igrpen1_el1, 0);
	isb();
	if (!v3_start_redistributor(cpu, v3.redistributor[cpu], reason)) {
		return false;
	}

	control = SYSREG_READ(icc_ctlr_el1);
	if (aff0 >= 16 && ((control & ICC_CTLR_RSS) == 0 ||
			   (read32(v3.distributor, GICD_TYPER) & GICD_TYPER_RSS) == 0)) {
		*reason = "affinity level 0 is above 15 and the GIC has no range selector";
		return false;
	}
	/* Aff3, range, Aff2, Aff1 and the list of Aff0 within the range. */
	v3.target[cpu] = (uint64_t)(affinity >> 24) << 48 | aff0 >> 4 << 44 |
			 (uint64_t)(affinity >> 16 & 0xffU) << 32 |
			 (uint64_t)(affinity >> 8 & 0xffU) << 16 | UINT64_C(1) << (aff0 & 15U);

	SYSREG_WRITE(icc_pmr_el1, GIC_PRIORITY_MASK);
	SYSREG_WRITE(icc_bpr1_el1, 0);
	SYSREG_WRITE(icc_ctlr_el1, control & ~ICC_CTLR_EOIMODE);
	SYSREG_WRITE(icc_ap1r0_el1, 0);
	isb();
	SYSREG_WRITE(icc_igrpen1_el1, 1);
	isb();
	return true;
}

TIMED static void v3_send(uint32_t cpu, uint32_t intid)
{
	uint64_t value = v3.target[cpu] | ICC_SGI1R_INTID(intid);

	/* A system register write is not ordered after stores by anything less. */
	dsb_ishst();
	SYSREG_WRITE(icc_sgi1r_el1, value);
	isb();
}

TIMED static void v3_send_others(uint32_t intid)
{
	uint64_t value = ICC_SGI1R_IRM | ICC_SGI1R_INTID(intid);

	dsb_ishst();
	SYSREG_WRITE(icc_sgi1r_el1, value);
	isb();
}

TIMED static void v3_send_behind_sy(uint32_t cpu, uint32_t intid)
{
	uint64_t value = v3.target[cpu] | ICC_SGI1R_INTID(intid);

	dsb_sy();
	SYSREG_WRITE(icc_sgi1r_el1, value);
	isb();
}

TIMED static void v3_send_behind_none(uint32_t cpu, uint32_t intid)
{
	SYSREG_WRITE(icc_sgi1r_el1, v3.target[cpu] | ICC_SGI1R_INTID(intid));
	isb();
}

TIMED static void v3_add_to_list(struct gic_list *list, uint32_t cpu, uint32_t intid)
{
	uint64_t value = v3.target[cpu] | ICC_SGI1R_INTID(intid);

	for (uint32_t i = 0; i < list->count; i++) {
		if (((list->values[i] ^ value) & ~ICC_SGI1R_TARGETS) == 0) {
			list->values[i] |= value;
			return;
		}
	}
	list->values[list->count++] = value;
}

TIMED static void v3_send_list(const struct gic_list *list)
{
	const uint64_t *value = list->values;
	const uint64_t *end = value + list->count;

	dsb_ishst();
	do {
		SYSREG_WRITE(icc_sgi1r_el1, *value);
	} while (++value != end);
	isb();
}

TIMED static void v3_enable(uint32_t intid)
{
	uint32_t cpu = cpu_index();

	v3.enabled[cpu] |= 1U << intid;
	write32(v3.redistributor[cpu], GICR_ISENABLER0, 1U << intid);
	dsb_sy();
}

TIMED static bool v3_pending(uint32_t intid)
{
	volatile void *redistributor = v3.redistributor[cpu_index()];
	uint32_t bits = read32(redistributor, GICR_ISPENDR0);

	bits |= read32(redistributor, GICR_ISACTIVER0);
	return (bits >> intid & 1U) != 0;
}

const struct gic_operations gic_v3 = {
	.version = 3,
	.entry = interrupt_v3,
	.staged_entry = interrupt_v3_staged,
	.start = v3_start,
	.start_cpu = v3_start_cpu,
	.send = v3_send,
	.send_others = v3_send_others,
	.send_behind = {v3_send, v3_send_behind_sy, v3_send_behind_none},
	.add_to_list = v3_add_to_list,
	.send_list = v3_send_list,
	.enable = v3_enable,
	.pending = v3_pending,
};

/*
 * The GIC of QEMU's virt machine from the secure side: everything is the level below's but SGI 15,
 * which ends the WFI of a core that waits to be switched on.
 */
#include "monitor.h"

#define GICD UINT64_C(0x08000000)
#define GICC UINT64_C(0x08010000)
#define GICR UINT64_C(0x080a0000)
#define GICR_BYTES 0x20000
#define WAKE_SGI 15U
#define BELOW ((uint32_t) ~(1U << WAKE_SGI)) /* in IGROUPR0: non-secure */
#define LINES 10
#define ODD_SGI 7U /* that the level below has no use for */

#define READ(name)                                                                                 \
	({                                                                                         \
		uint64_t value_;                                                                   \
		__asm__ volatile("mrs %0, " #name : "=r"(value_) : : "memory");                    \
		value_;                                                                            \
	})
#define WRITE(name, value)                                                                         \
	__asm__ volatile("msr " #name ", %x0\n\tisb" : : "rZ"((uint64_t)(value)) : "memory")

static volatile uint32_t *at(uint64_t address)
{
	return (volatile uint32_t *)address;
}

static bool is_v3(void)
{
	return (READ(id_aa64pfr0_el1) >> 24 & 0xf) != 0;
}

/* The calling core's redistributor. */
static uint64_t redistributor(void)
{
	uint64_t mpidr = READ(mpidr_el1);
	uint32_t affinity = (uint32_t)(mpidr & 0xffffff);
	uint64_t base = GICR;

	while (*at(base + 0xc) != affinity) {
		base += GICR_BYTES;
	}
	return base;
}

static void start_v2(uint64_t index)
{
	if (index == 0) {
		for (uint32_t line = 1; line < LINES; line++) {
			*at(GICD + 0x80 + 4 * line) = UINT32_MAX;
		}
		*at(GICD) = 3;
	}
	*at(GICD + 0x80) = BELOW;
	*at(GICD + 0x100) = 1U << WAKE_SGI;
	*at(GICC + 4) = 0xff;
	*at(GICC) = 0x1e9; /* FIQEn, group 0 enabled, bypass off; the level below enables its own */
}

static void start_v3(uint64_t index)
{
	uint64_t base = redistributor();

	if (index == 0) {
		*at(GICD) = 0;
		*at(GICD) = 0x30; /* ARE_S, ARE_NS */
		for (uint32_t line = 1; line < LINES; line++) {
			*at(GICD + 0x80 + 4 * line) = UINT32_MAX;
		}
		*at(GICD) = 0x37;
	}
	*at(base + 0x14) = 0; /* GICR_WAKER */
	while ((*at(base + 0x14) & 4) != 0) {
	}
	*at(base + 0x10080) = BELOW;
	*at(base + 0x10d00) = 0;
	*at(base + 0x10100) = 1U << WAKE_SGI;
	WRITE(S3_6_C12_C12_5, 0xf); /* ICC_SRE_EL3 */
	if ((READ(id_aa64pfr0_el1) >> 8 & 0xf) != 0) {
		WRITE(S3_4_C12_C9_5, 0xf); /* ICC_SRE_EL2 */
	}
	WRITE(S3_0_C12_C12_5, 0x7); /* ICC_SRE_EL1 */
	WRITE(S3_0_C4_C6_0, 0xff);  /* ICC_PMR_EL1 */
	WRITE(S3_0_C12_C12_6, 1);   /* ICC_IGRPEN0_EL1 */
}

void gic_start(uint64_t index)
{
	if (is_v3()) {
		start_v3(index);
	} else {
		start_v2(index);
	}
}

/* Where the calling core's SGIs and PPIs are set up. */
static uint64_t banked_registers(void)
{
	return is_v3() ? redistributor() + 0x10000 : GICD;
}

static void lose_banked(void)
{
	uint64_t base = banked_registers();

	*at(base + 0x180) = UINT32_MAX; /* nothing enabled */
	for (uint32_t word = 0; word < 8; word++) {
		/* SGI 15 stays what it is, the highest. */
		*at(base + 0x400 + 4 * word) = word == WAKE_SGI / 4 ? 0x00ffffff : UINT32_MAX;
	}
}

static void lose_interface(void)
{
	if (is_v3()) {
		WRITE(S3_6_C12_C12_7, 0); /* ICC_IGRPEN1_EL3 */
		WRITE(S3_0_C4_C6_0, 0);
		*at(redistributor() + 0x14) = 2; /* asleep */
	} else {
		*at(GICC) = 0;
		*at(GICC + 4) = 0;
	}
}

void gic_lose_state(uint64_t index, bool banked, bool interface)
{
	if (banked) {
		lose_banked();
	}
	if (interface) {
		lose_interface();
		gic_start(index);
	}
	*at(banked_registers() + 0x100) = 1U << WAKE_SGI;
}

void gic_interrupt(void)
{
	*at(banked_registers() + 0x100) = 1U << ODD_SGI;
	if (is_v3()) {
		*at(banked_registers() + 0x200) = 1U << ODD_SGI;
	} else {
		*at(GICD + 0xf00) = 2U << 24 | 1U << 15 | ODD_SGI; /* to itself, not secure */
	}
}

void gic_deafen(void)
{
	if (is_v3()) {
		WRITE(S3_6_C12_C12_7, 0); /* ICC_IGRPEN1_EL3 */
	} else {
		*at(GICC) = 0;
	}
}

void gic_wake(uint64_t mpidr)
{
	__asm__ volatile("dsb sy" : : : "memory");
	if (is_v3()) {
		WRITE(S3_0_C12_C11_7, (mpidr >> 8 & 0xff) << 16 | (uint64_t)WAKE_SGI << 24 |
					      UINT64_C(1) << (mpidr & 0xf)); /* ICC_SGI0R_EL1 */
	} else {
		*at(GICD + 0xf00) = 1U << (16 + (mpidr & 7)) | WAKE_SGI;
	}
}

void gic_take_wake(void)
{
	if (is_v3()) {
		uint64_t intid = READ(S3_0_C12_C8_0); /* ICC_IAR0_EL1 */

		if (intid < 16) {
			WRITE(S3_0_C12_C8_1, intid);
		}
	} else {
		uint32_t value = *at(GICC + 0xc);

		if ((value & 0x3ff) < 16) {
			*at(GICC + 0x10) = value;
		}
	}
}

uint32_t gic_pending(void)
{
	uint32_t pending;

	if (is_v3()) {
		return (uint32_t)READ(S3_0_C12_C12_2) & 0x3ff; /* ICC_HPPIR1_EL1 */
	}
	/* GICC_HPPIR does not tell the secure side which: pending, enabled, and not secure. */
	pending = *at(GICD + 0x200) & *at(GICD + 0x100) & BELOW;
	return pending == 0 ? 1023 : (uint32_t)__builtin_ctz(pending);
}

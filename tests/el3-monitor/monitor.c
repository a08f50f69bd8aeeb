/*
 * PSCI 1.1 and TF-A's time stamps, faithful unless told otherwise. Power-downs are the hardest that
 * the specification allows: the core comes back at its entry point with rubbish in every register
 * of EL1 and EL2 that software sets up, and with its GIC state lost.
 *
 * Words in the boot arguments make it hostile; see faults.h.
 */
#include "faults.h"
#include "monitor.h"

#include <libfdt.h>
#include <stddef.h>
#include <string.h>

#define TREE ((void *)0x40000000)
#define TREE_BYTES_MAX 0x100000
#define GPIO UINT64_C(0x090b0000) /* secure PL061: pin 0 switches the machine off, pin 1 resets */
#define PRESENT_MS 100            /* the tree may have cores that the machine has not */

#define NOT_SUPPORTED (-1)
#define INVALID_PARAMETERS (-2)
#define DENIED (-3)
#define ALREADY_ON (-4)
#define ON_PENDING (-5)
#define INVALID_ADDRESS (-9)

#define STATE_STANDBY 0x1
#define STATE_CORE 0x10002
#define STATE_CLUSTER 0x1010022

#define ENTRY_INSTRUCTIONS 50000 /* even */
#define EXIT_INSTRUCTIONS 30000
#define LOOK_INSTRUCTIONS 20000
#define STAT_RESIDENCY 0xc4000010U
#define STAT_COUNT 0xc4000011U

#define PMF_STAMP_NEW 0xc7000020U
#define PMF_STAMP_OLD 0xc2000010U
#define PMF_SERVICE 0x41000400U
#define PMF_STAMPS 6U

enum { ENTER_PSCI, EXIT_PSCI, ENTER_LOW_POWER, EXIT_LOW_POWER, ENTER_FLUSH, EXIT_FLUSH };

enum { STANDBY, CORE, CLUSTER, STATES };

enum power { OFF = 0, PENDING, ON };

static struct core {
	volatile uint32_t power;
	volatile bool present;
	volatile bool told; /* to start */
	bool late;          /* to be told with the next question for the state of a core */
	bool started;       /* once, already */
	uint64_t entry;
	uint64_t context;
	uint64_t stamps[PMF_STAMPS];
	uint64_t first[PMF_STAMPS];
	uint64_t calls; /* suspends */
	uint64_t entries[STATES];
	uint64_t resident[STATES]; /* ticks */
} cores[MONITOR_CORES];

/* In use on all cores before .bss is cleared. */
unsigned char stacks[MONITOR_CORES * MONITOR_STACK_BYTES]
	__attribute__((section(".stacks"), aligned(4096)));

/* The libraries were compiled for programs that have these. */
uintptr_t __stack_chk_guard;
void __stack_chk_fail(void);
void __stack_chk_fail(void)
{
	for (;;) {
	}
}

static volatile bool ready; /* core 0 has cleared and set up memory */

static uint64_t counter_hz(void)
{
	uint64_t hz;

	__asm__("mrs %0, cntfrq_el0" : "=r"(hz));
	return hz;
}

static uint64_t counter(void)
{
	uint64_t ticks;

	__asm__ volatile("isb\n\tmrs %0, cntpct_el0" : "=r"(ticks) : : "memory");
	return ticks;
}

static void wait_ms(uint64_t milliseconds)
{
	uint64_t end = counter() + counter_hz() * milliseconds / 1000;

	while ((int64_t)(counter() - end) < 0) {
		__asm__ volatile("yield" : : : "memory");
	}
}

static uint64_t own_mpidr(void)
{
	uint64_t mpidr;

	__asm__("mrs %0, mpidr_el1" : "=r"(mpidr));
	return mpidr & 0xffffff;
}

static uint32_t index_of(uint64_t mpidr)
{
	return (uint32_t)((mpidr >> 8 & 0xff) * 16 + (mpidr & 0xff));
}

static bool is_core(uint64_t mpidr)
{
	mpidr &= 0xff00ffffff;
	return (mpidr & 0xf0) == 0 && mpidr < 0x800 && cores[index_of(mpidr)].present;
}

static bool has_fault(enum fault fault)
{
	return fault_hits(fault, index_of(own_mpidr()));
}

static void stamp(struct core *core, uint32_t id)
{
	uint64_t now = counter();

	if (core->first[id] == 0) {
		core->first[id] = now;
	}
	core->stamps[id] = has_fault(STALE) ? core->first[id] : now;
}

/* Waits to be switched on. */
static void wait_for_power(struct core *core)
{
	core->power = OFF;
	while (!core->told) {
		__asm__ volatile("dsb sy\n\twfi" : : : "memory");
		gic_take_wake();
	}
	core->told = false;
	core->started = true;
	core->power = ON;
	stamp(core, EXIT_LOW_POWER);
	stamp(core, EXIT_PSCI);
	monitor_enter(core->entry, core->context);
}

/* Tells the level below of this firmware; returns how many cores the tree has. */
static uint32_t describe_psci(void)
{
	uint32_t count = 0;
	int parent;
	int node;

	if (fdt_open_into(TREE, TREE, TREE_BYTES_MAX) != 0) {
		return 0;
	}
	parent = fdt_path_offset(TREE, "/cpus");
	fdt_for_each_subnode(node, TREE, parent)
	{
		const char *type = fdt_getprop(TREE, node, "device_type", NULL);

		if (type != NULL && strcmp(type, "cpu") == 0) {
			(void)fdt_setprop_string(TREE, node, "enable-method", "psci");
			count++;
		}
	}
	node = fdt_add_subnode(TREE, 0, "psci");
	if (node >= 0) {
		(void)fdt_setprop_string(TREE, node, "compatible", "arm,psci-1.0");
		(void)fdt_setprop_string(TREE, node, "method", "smc");
	}
	node = fdt_path_offset(TREE, "/chosen");
	faults_read(fdt_getprop(TREE, node, "bootargs", NULL));
	return count;
}

/* No exclusives: the MMU is off. */
static uint32_t present_cores(void)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < MONITOR_CORES; i++) {
		count += cores[i].present;
	}
	return count;
}

uint64_t monitor_start(uint64_t index)
{
	struct core *core = &cores[index];
	uint32_t count;

	gic_start(index);
	if (index != 0) {
		while (!ready) {
			__asm__ volatile("yield" : : : "memory");
		}
		core->present = true;
		wait_for_power(core);
	}
	core->present = true;
	core->power = ON;
	ready = true;
	count = describe_psci();
	for (uint32_t i = 0; i < PRESENT_MS && present_cores() < count; i++) {
		wait_ms(1);
	}
	return (uint64_t)TREE;
}

static int64_t cpu_on(uint64_t mpidr, uint64_t entry, uint64_t context)
{
	struct core *core = &cores[index_of(mpidr)];

	if (!is_core(mpidr)) {
		return INVALID_PARAMETERS;
	}
	if ((entry & 3) != 0) {
		return INVALID_ADDRESS;
	}
	if (core->power == ON) {
		return ALREADY_ON;
	}
	if (core->power == PENDING) {
		return ON_PENDING;
	}
	core->power = PENDING;
	core->entry = entry;
	core->context = context;
	core->late = fault_hits(core->started ? LATE_RESTART : LATE_START, index_of(mpidr));
	if (core->late || fault_hits(NO_START, index_of(mpidr))) {
		return 0;
	}
	core->told = true;
	gic_wake(mpidr);
	return 0;
}

/* The level below goes on with something else: cores that are late come now. */
static void start_late_cores(void)
{
	for (uint32_t i = 0; i < MONITOR_CORES; i++) {
		if (cores[i].late) {
			cores[i].late = false;
			cores[i].told = true;
			gic_wake((uint64_t)(i / 16) << 8 | i % 16);
		}
	}
}

static int64_t affinity_info(uint64_t mpidr, uint64_t level)
{
	start_late_cores();
	if (level == 0 && !is_core(mpidr) && has_fault(BAD_MPIDR)) {
		return 1;
	}
	if (level != 0 || !is_core(mpidr)) {
		return INVALID_PARAMETERS;
	}
	switch (cores[index_of(mpidr)].power) {
	case ON:
		return 0;
	case PENDING:
		return 2;
	default:
		return 1;
	}
}

static uint32_t state_index(uint64_t state)
{
	switch (state) {
	case STATE_STANDBY:
		return STANDBY;
	case STATE_CORE:
		return CORE;
	case STATE_CLUSTER:
		return CLUSTER;
	default:
		return STATES;
	}
}

static int64_t stat_of(uint64_t mpidr, uint64_t state, bool residency)
{
	uint32_t index = state_index(state);
	const struct core *core = &cores[index_of(mpidr)];
	uint64_t hz;

	if (!is_core(mpidr) || index == STATES) {
		return 0;
	}
	__asm__("mrs %0, cntfrq_el0" : "=r"(hz));
	return (int64_t)(residency ? core->resident[index] * 1000000 / hz : core->entries[index]);
}

static bool may_wake(void)
{
	uint32_t pending = gic_pending();

	if (has_fault(NO_WAKE)) {
		return false;
	}
	return pending < 1020;
}

/* Does nothing, if the core is to, for an even number of instructions. */
static void spend(enum fault fault, uint64_t instructions)
{
	if (has_fault(fault)) {
		__asm__ volatile("1:\tsubs %0, %0, #2\n\tb.ne 1b" : "+r"(instructions) : : "cc");
	}
}

static int64_t suspend(struct core *core, uint64_t state, uint64_t entry, uint64_t context)
{
	uint32_t index = state_index(state);
	bool powers_down = index != STANDBY;
	uint64_t entered;

	if (index == STATES) {
		return INVALID_PARAMETERS;
	}
	if (has_fault(REFUSE_SUSPEND)) {
		return DENIED;
	}
	if (powers_down && (entry & 3) != 0) {
		return INVALID_ADDRESS;
	}
	if (powers_down) {
		stamp(core, ENTER_FLUSH);
		for (volatile int work = state == STATE_CORE ? 16 : 64; work > 0; work--) {
		}
		stamp(core, EXIT_FLUSH);
	}
	spend(GIVES_UP, LOOK_INSTRUCTIONS);
	if (powers_down && has_fault(GIVES_UP) && may_wake()) {
		return 0;
	}
	spend(SLOW_ENTRY, ENTRY_INSTRUCTIONS);
	stamp(core, ENTER_LOW_POWER);
	entered = counter();
	if (has_fault(NO_WAKE)) {
		gic_deafen();
	}
	if (has_fault(MISS_TIMER) || (powers_down && has_fault(STOP_TIMER))) {
		__asm__ volatile("msr cntp_ctl_el0, xzr\n\tisb");
	}
	while (!has_fault(EARLY) && !may_wake()) {
		__asm__ volatile("dsb sy\n\twfi" : : : "memory");
	}
	stamp(core, EXIT_LOW_POWER);
	core->calls++;
	core->entries[index] += !has_fault(UNDER_COUNT) || core->calls % 2 == 0;
	core->resident[index] += counter() - entered;
	spend(SLOW_EXIT, EXIT_INSTRUCTIONS);
	if (!powers_down || has_fault(INLINE)) {
		return 0;
	}
	gic_lose_state(index_of(own_mpidr()), !has_fault(KEEP_BANKED), !has_fault(KEEP_INTERFACE));
	stamp(core, EXIT_PSCI);
	monitor_enter(entry, context);
}

static int64_t features(uint64_t function)
{
	switch ((uint32_t)function) {
	case 0x80000000U:
	case 0x84000000U:
	case 0x84000001U:
	case 0xc4000001U:
	case 0x84000002U:
	case 0x84000003U:
	case 0xc4000003U:
	case 0x84000004U:
	case 0xc4000004U:
	case 0x84000008U:
	case 0x84000009U:
	case 0x8400000aU:
		return 0;
	case STAT_RESIDENCY:
	case STAT_COUNT:
		return has_fault(NO_STAT) ? NOT_SUPPORTED : 0;
	default:
		return NOT_SUPPORTED;
	}
}

static void switch_machine(uint32_t pin)
{
	*(volatile uint32_t *)(GPIO + 0x400) = 3;
	*(volatile uint32_t *)(GPIO + (4UL << pin)) = 0;
	*(volatile uint32_t *)(GPIO + (4UL << pin)) = 1U << pin;
	for (;;) {
		__asm__ volatile("wfi");
	}
}

/* An invalid MPIDR is answered as TF-A does: by nothing, x0 stays the function. */
static void pmf(struct frame *frame)
{
	uint64_t id = frame->x[1];

	if (!is_core(frame->x[2]) || has_fault(BAD_MPIDR)) {
		return;
	}
	if (id < PMF_SERVICE || id >= PMF_SERVICE + PMF_STAMPS) {
		frame->x[0] = (uint64_t)-22;
		return;
	}
	frame->x[1] = cores[index_of(frame->x[2])].stamps[id - PMF_SERVICE];
	frame->x[0] = 0;
}

static int64_t psci(struct core *core, const struct frame *frame)
{
	switch ((uint32_t)frame->x[0]) {
	case 0x84000000U:
		while (has_fault(NO_ANSWER)) {
			__asm__ volatile("wfi");
		}
		if (has_fault(SPURIOUS)) {
			gic_interrupt();
		}
		return 0x10001;
	case 0x84000001U:
	case 0xc4000001U:
		return suspend(core, (uint32_t)frame->x[1], frame->x[2], frame->x[3]);
	case 0x84000002U:
		if (has_fault(REFUSE_OFF)) {
			return DENIED;
		}
		stamp(core, ENTER_FLUSH);
		stamp(core, EXIT_FLUSH);
		stamp(core, ENTER_LOW_POWER);
		gic_lose_state(index_of(own_mpidr()), true, true);
		wait_for_power(core);
		return 0;
	case 0x84000003U:
	case 0xc4000003U:
		return cpu_on(frame->x[1], frame->x[2], frame->x[3]);
	case 0x84000004U:
	case 0xc4000004U:
		return affinity_info(frame->x[1], frame->x[2]);
	case 0x84000006U:
		return 2; /* MIGRATE_INFO_TYPE: no trusted OS */
	case 0x84000008U:
		switch_machine(0);
		return 0;
	case 0x84000009U:
		switch_machine(1);
		return 0;
	case 0x8400000aU:
		return features(frame->x[1]);
	case STAT_RESIDENCY:
	case STAT_COUNT:
		return has_fault(NO_STAT) ? NOT_SUPPORTED
					  : stat_of(frame->x[1], (uint32_t)frame->x[2],
						    (uint32_t)frame->x[0] == STAT_RESIDENCY);
	default:
		return NOT_SUPPORTED;
	}
}

void monitor_call(struct frame *frame)
{
	struct core *core = &cores[index_of(own_mpidr())];
	uint32_t function = (uint32_t)frame->x[0];

	if ((function & 0xbfffffe0U) == 0x84000000U) {
		core->stamps[ENTER_PSCI] = frame->stamp;
		frame->x[0] = (uint64_t)psci(core, frame);
		stamp(core, EXIT_PSCI);
		return;
	}
	if (function == 0x80000000U) {
		frame->x[0] = 0x10002; /* SMCCC_VERSION */
	} else if (!has_fault(NO_PMF) && (function == PMF_STAMP_OLD ||
					  (function == PMF_STAMP_NEW && !has_fault(OLD_PMF)))) {
		pmf(frame);
	} else {
		frame->x[0] = (uint64_t)NOT_SUPPORTED;
	}
}

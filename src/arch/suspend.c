/*
 * What a core keeps over a power-down beyond the registers that src/boot/resume.S sees to: EL1's
 * system registers, the timers, and its place at the interrupt controller.
 */
#include "el1bench/suspend.h"

#include <stddef.h>

#include "el1bench/barrier.h"
#include "el1bench/counter.h"
#include "el1bench/cpu.h"
#include "el1bench/gic.h"
#include "el1bench/mmu.h"
#include "el1bench/psci.h"
#include "el1bench/sysreg.h"
#include "el1bench/timed.h"

/* Restored in this order. TCR_EL1 after TTBR0_EL1: it ends the walks of the identity map. */
#define KEPT(each)                                                                                 \
	each(mair_el1) each(ttbr1_el1) each(ttbr0_el1) each(tcr_el1) each(sctlr_el1)               \
		each(vbar_el1) each(cpacr_el1) each(contextidr_el1) each(mdscr_el1)                \
			each(csselr_el1) each(tpidr_el0) each(tpidrro_el0) each(sp_el0) each(fpcr) \
				each(fpsr) each(cntkctl_el1) each(cntp_cval_el0)                   \
					each(cntv_cval_el0) each(cntv_ctl_el0)

#define KEPT_OF_PMU(each) each(pmccfiltr_el0) each(pmccntr_el0) each(pmcntenset_el0) each(pmcr_el0)

#define CNTV_CTL_ISTATUS UINT64_C(4)

#define FIELD(name) uint64_t name;
#define NAME(name) #name,
#define SAVE(name) kept->name = SYSREG_READ(name);
#define RESTORE(name) SYSREG_WRITE(name, kept->name);

struct kept {
	KEPT(FIELD)
};

struct kept_of_pmu {
	KEPT_OF_PMU(FIELD)
};

#define KEPT_COUNT (sizeof(struct kept) / sizeof(uint64_t))

struct suspend_context {
	uint64_t registers[13]; /* x19 to x30, SP */
	uint64_t begin;
	uint64_t back;
	uint64_t at_entry;
	struct kept kept;
	struct kept_of_pmu pmu;
} __attribute__((aligned(1 << SUSPEND_CONTEXT_SHIFT)));

_Static_assert(offsetof(struct suspend_context, begin) == SUSPEND_BEGIN, "suspend.h");
_Static_assert(offsetof(struct suspend_context, back) == SUSPEND_BACK, "suspend.h");
_Static_assert(offsetof(struct suspend_context, at_entry) == SUSPEND_AT_ENTRY, "suspend.h");
_Static_assert(sizeof(struct suspend_context) == 1 << SUSPEND_CONTEXT_SHIFT, "suspend.h");

extern const char resume_entry[];
int64_t suspend_call(struct suspend_context *context, uint64_t state, uint64_t entry,
		     uint64_t context_id);

extern struct suspend_context suspend_contexts[CPU_MAX];
struct suspend_context suspend_contexts[CPU_MAX];

static uint64_t entry_address;
static bool has_pmu;

void suspend_prepare(void)
{
	uint64_t pmu = SYSREG_READ(id_aa64dfr0_el1) >> 8 & 0xf;

	has_pmu = pmu != 0 && pmu != 0xf;
	entry_address = mmu_physical(resume_entry);
}

/* A timer's control register also tells whether it has fired. */
TIMED_BETWEEN static void save(struct kept *kept)
{
	KEPT(SAVE)
	kept->cntv_ctl_el0 &= ~CNTV_CTL_ISTATUS;
}

TIMED_BETWEEN static void save_pmu(struct kept_of_pmu *kept)
{
	if (has_pmu) {
		KEPT_OF_PMU(SAVE)
	}
}

TIMED_BETWEEN static void restore_pmu(const struct kept_of_pmu *kept)
{
	if (has_pmu) {
		KEPT_OF_PMU(RESTORE)
	}
}

TIMED_BETWEEN static void restore(const struct kept *kept)
{
	KEPT(RESTORE)
	isb();
	BARRIER_ASM("tlbi vmalle1\n\tdsb nsh");
	isb();
	/* From here on an SError can be reported again (cpu.c). */
	BARRIER_ASM("msr daifclr, #4");
}

/* The register that is not what it was, or NULL. */
TIMED_BETWEEN static const char *find_loss(const struct kept *kept)
{
	static const char names[KEPT_COUNT][15] = {KEPT(NAME)};
	const uint64_t *then = (const uint64_t *)kept;
	uint64_t now[KEPT_COUNT];

	save((struct kept *)now);
	for (uint32_t i = 0; i < KEPT_COUNT; i++) {
		if (now[i] != then[i]) {
			return names[i];
		}
	}
	return NULL;
}

TIMED void suspend_core(uint32_t state, bool powers_down, struct suspend_outcome *outcome)
{
	uint32_t index = cpu_index();
	struct suspend_context *context = &suspend_contexts[index];

	outcome->at_entry = false;
	outcome->lost = NULL;
	if (!powers_down) {
		outcome->begin = counter_begin();
		outcome->result = psci_call(PSCI_CPU_SUSPEND, state, entry_address, index);
		outcome->back = counter_end();
		outcome->ready = outcome->back;
		return;
	}
	save(&context->kept);
	save_pmu(&context->pmu);
	outcome->result = suspend_call(context, state, entry_address, index);
	outcome->ready = counter_end();
	if (context->at_entry != 0) {
		restore(&context->kept);
		restore_pmu(&context->pmu);
		outcome->at_entry = true;
		if (gic->start_cpu(index, &outcome->lost)) {
			outcome->lost = find_loss(&context->kept);
		}
	}
	outcome->begin = context->begin;
	outcome->back = context->back;
}

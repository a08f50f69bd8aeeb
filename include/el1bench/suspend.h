/*
 * CPU_SUSPEND, for states that keep the core's registers and for those that lose them: what a
 * power-down loses is saved before and restored after it.
 */
#pragma once

/* Byte offsets in struct suspend_context, for assembly. */
#define SUSPEND_REGISTERS 0 /* x19 to x30, SP */
#define SUSPEND_BEGIN 104
#define SUSPEND_BACK 112
#define SUSPEND_AT_ENTRY 120
#define SUSPEND_CONTEXT_SHIFT 9

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stdint.h>

struct suspend_outcome {
	uint64_t begin;   /* ticks: right before the call */
	uint64_t back;    /* the first instruction at the resume entry, or after the call */
	uint64_t ready;   /* in C again; a core that came back at the entry restores itself next */
	int64_t result;   /* the call's; PSCI_SUCCESS for a core that came back at the entry */
	bool at_entry;    /* it came back at the resume entry, not to its caller */
	const char *lost; /* NULL, or what of the core's state is not what it was */
};

/*
 * Suspends the calling core. Any online core, EL1, interrupts masked, a wake-up event arranged for.
 * `powers_down` says that the state may lose registers. Timed code.
 */
void suspend_core(uint32_t state, bool powers_down, struct suspend_outcome *outcome);

/* Looks up what suspend_core needs. Core 0, after psci_start, before the first suspend. */
void suspend_prepare(void);

#endif

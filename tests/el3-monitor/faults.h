/*
 * What the monitor does wrong on purpose: words `el3-monitor.NAME`, for all cores, or
 * `el3-monitor.NAME=CORE` in the boot arguments.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum fault {
	REFUSE_SUSPEND, /* DENIED for each suspend */
	REFUSE_OFF,     /* DENIED for CPU_OFF */
	INLINE,         /* a power-down returns to its caller */
	EARLY,          /* a suspend does not wait for anything */
	NO_START,       /* CPU_ON succeeds; the core never comes */
	LATE_START,     /* the core comes when the level below asks for the state of any */
	LATE_RESTART,   /* the same, but not the first time */
	NO_ANSWER,      /* PSCI_VERSION does not return */
	NO_WAKE,        /* a suspended core never comes back */
	MISS_TIMER,     /* a suspended core's timer is stopped */
	STOP_TIMER,     /* the same in power-downs only */
	KEEP_BANKED,    /* a power-down does not lose what the GIC banks for a core */
	KEEP_INTERFACE, /* it does not lose the CPU interface */
	SPURIOUS,       /* PSCI_VERSION leaves an interrupt that nobody asked for */
	STALE,          /* stamps but that of the entry are the first ones for ever */
	SLOW_ENTRY,     /* ENTRY_INSTRUCTIONS more on the way into a state */
	SLOW_EXIT,      /* EXIT_INSTRUCTIONS more on the way out */
	GIVES_UP,       /* LOOK_INSTRUCTIONS into a power-down, a wake-up that is pending ends it */
	BAD_MPIDR,      /* to PMF the core's own MPIDR is none; to AFFINITY_INFO each is one */
	OLD_PMF,        /* the old function identifier only */
	NO_PMF,
	UNDER_COUNT, /* PSCI_STAT_COUNT misses every other entry */
	NO_STAT,
	FAULTS
};

/* Reads the boot arguments; NULL: there are none. Core 0, before the others are let go. */
void faults_read(const char *arguments);

/* True if that was asked for, of that core. */
bool fault_hits(enum fault fault, uint32_t core);

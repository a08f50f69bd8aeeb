/*
 * What core 0 shares with each other core; private to this folder. A core's mailbox is a cache line
 * of its own. It is read and written with the MMU and caches on only (smp_secondary_main is entered
 * that way), so nothing needs cleaning.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "el1bench/counter.h"
#include "el1bench/cpu.h"
#include "el1bench/smp.h"

/* How far a core has come. It and core 0 settle by compare-and-swap who leaves STARTING first. */
enum core_state {
	CORE_OFF,
	CORE_STARTING,  /* CPU_ON is under way */
	CORE_READY,     /* the core takes work */
	CORE_STOPPING,  /* CPU_OFF is under way */
	CORE_REFUSED,   /* the core cannot take part; `reason` says why */
	CORE_ABANDONED, /* core 0 has waited long enough */
};

struct mailbox {
	uint32_t posted; /* pieces of work handed out; core 0 writes */
	uint32_t done;   /* pieces of work finished; the core writes */
	uint32_t state;  /* enum core_state */
	smp_function function;
	void *argument;
	const char *reason;
	uint64_t stamp; /* of the core's latest change of power, ticks; the core writes */
	int64_t result; /* of a CPU_OFF that came back; the core writes */
} __attribute__((aligned(64)));

extern struct mailbox mailboxes[CPU_MAX];

/* Physical address at which cores are started; from smp_start on. */
extern uint64_t smp_entry_address;

/*
 * Between two looks at what is waited for until `deadline`: polls at first; later sleeps for a
 * millisecond, so that a wait in vain costs few instructions. Core 0, timed code.
 */
void smp_pause(const struct deadline *deadline);

/* Leaves STARTING; false if the other side was faster. */
bool smp_leave_starting(struct mailbox *mailbox, enum core_state next);

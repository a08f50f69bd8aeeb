/*
 * Power states for CPU_SUSPEND (Arm DEN 0022, 5.4.2), as the idle states of a device tree or a boot
 * argument give them. No hardware access; runs on a host too.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum idle_kind {
	IDLE_STANDBY, /* the core keeps its registers */
	IDLE_CORE,    /* the shallowest power-down: of the core alone */
	IDLE_DEEPEST, /* the deepest power-down, where there is more than one */
	IDLE_KINDS
};

/* What a tree claims of a state, in microseconds: entry-latency-us and so on. */
enum idle_claim { IDLE_ENTRY, IDLE_EXIT, IDLE_WAKEUP, IDLE_MIN_RESIDENCY, IDLE_CLAIMS };

struct idle_state {
	bool present;
	bool timer_stops; /* local-timer-stop: the core's own timer does not wake it */
	uint32_t power_state;
	const void *tree;             /* that describes it; NULL: none does */
	const char *name;             /* the node's, in the tree; "-" without one */
	uint32_t claims[IDLE_CLAIMS]; /* UINT32_MAX where the node does not say */
};

struct idle_states {
	struct idle_state kinds[IDLE_KINDS];
	/* A state with `system_bits` at `system_mask` suspends the machine; mask 0: none does. */
	uint32_t system_mask;
	uint32_t system_bits;
};

/*
 * Reads which states suspend the whole machine from `el1bench,system-suspend` (mask and bits) of
 * the tree's /psci node; if it is not there, none does.
 */
void idle_states_limit(const void *tree, struct idle_states *states);

/* True for a state that suspends the machine: nothing that the image has wakes it. */
bool idle_states_refuse(const struct idle_states *states, uint32_t power_state);

/*
 * Where the type of a state is told: bit 16 in the original format, bit 30 in the extended one
 * (PSCI_FEATURES of CPU_SUSPEND, bit 1).
 */
bool idle_state_powers_down(uint32_t power_state, bool extended);

/* Adds a state, shallower ones first; the place it takes follows from its type. */
void idle_states_add(struct idle_states *states, uint32_t power_state, bool extended);

/*
 * Reads the okay children of /cpus/idle-states that have `arm,psci-suspend-param`, in the order of
 * the tree, but for those that are refused. If there are no states yet, adds them; of those that
 * there are, notes what the tree says. Returns how many children there are.
 */
uint32_t idle_states_read(const void *tree, bool extended, struct idle_states *states);

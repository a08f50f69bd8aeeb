/*
 * Power states, from /cpus/idle-states.
 */
#include "el1bench/idle_states.h"

#include <libfdt.h>
#include <stddef.h>

#include "el1bench/tree.h"

#define TYPE_ORIGINAL 16
#define TYPE_EXTENDED 30

bool idle_state_powers_down(uint32_t power_state, bool extended)
{
	return (power_state >> (extended ? TYPE_EXTENDED : TYPE_ORIGINAL) & 1U) != 0;
}

void idle_states_limit(const void *tree, struct idle_states *states)
{
	int length;
	const fdt32_t *cells =
		fdt_getprop(tree, tree_child(tree, 0, "psci"), "el1bench,system-suspend", &length);

	if (cells != NULL && length == 2 * (int)sizeof(*cells)) {
		states->system_mask = fdt32_ld(cells);
		states->system_bits = fdt32_ld(cells + 1);
	}
}

bool idle_states_refuse(const struct idle_states *states, uint32_t power_state)
{
	return states->system_mask != 0 &&
	       (power_state & states->system_mask) == states->system_bits;
}

void idle_states_add(struct idle_states *states, uint32_t power_state, bool extended)
{
	enum idle_kind kind = IDLE_STANDBY;

	if (idle_state_powers_down(power_state, extended)) {
		kind = states->kinds[IDLE_CORE].present ? IDLE_DEEPEST : IDLE_CORE;
	}
	states->kinds[kind] = (struct idle_state){
		.present = true,
		.power_state = power_state,
		.name = "-",
		.claims = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX},
	};
}

static void describe(struct idle_state *state, const struct tree_children *child)
{
	static const char *const properties[IDLE_CLAIMS] = {
		"entry-latency-us", "exit-latency-us", "wakeup-latency-us", "min-residency-us"};

	state->tree = child->tree;
	state->name = child->name;
	state->timer_stops =
		fdt_getprop(child->tree, child->node, "local-timer-stop", NULL) != NULL;
	for (uint32_t i = 0; i < IDLE_CLAIMS; i++) {
		uint64_t microseconds;
		bool said = tree_number(child->tree, child->node, properties[i], &microseconds) &&
			    microseconds < UINT32_MAX;

		state->claims[i] = said ? (uint32_t)microseconds : UINT32_MAX;
	}
}

uint32_t idle_states_read(const void *tree, bool extended, struct idle_states *states)
{
	int parent = tree_child(tree, tree_child(tree, 0, "cpus"), "idle-states");
	bool adds = true;
	uint32_t count = 0;

	for (uint32_t kind = 0; kind < IDLE_KINDS; kind++) {
		adds = adds && !states->kinds[kind].present;
	}
	for (struct tree_children child = tree_children(tree, parent); tree_next_child(&child);) {
		uint64_t power_state;

		if (!tree_status_okay(tree, child.node) ||
		    !tree_number(tree, child.node, "arm,psci-suspend-param", &power_state) ||
		    power_state > UINT32_MAX || idle_states_refuse(states, (uint32_t)power_state)) {
			continue;
		}
		if (adds) {
			idle_states_add(states, (uint32_t)power_state, extended);
		}
		for (uint32_t kind = 0; kind < IDLE_KINDS; kind++) {
			struct idle_state *state = &states->kinds[kind];

			if (state->present && state->power_state == power_state) {
				describe(state, &child);
			}
		}
		count++;
	}
	return count;
}

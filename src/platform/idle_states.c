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

void idle_states_add(struct idle_states *states, uint32_t power_state, bool timer_stops,
		     bool extended)
{
	enum idle_kind kind = IDLE_STANDBY;

	if (idle_state_powers_down(power_state, extended)) {
		kind = states->kinds[IDLE_CORE].present ? IDLE_DEEPEST : IDLE_CORE;
	}
	states->kinds[kind] = (struct idle_state){
		.present = true,
		.timer_stops = timer_stops,
		.power_state = power_state,
	};
}

uint32_t idle_states_read(const void *tree, bool extended, struct idle_states *states)
{
	int parent = tree_child(tree, tree_child(tree, 0, "cpus"), "idle-states");
	uint32_t count = 0;

	for (struct tree_children child = tree_children(tree, parent); tree_next_child(&child);) {
		uint64_t power_state;

		if (!tree_status_okay(tree, child.node) ||
		    !tree_number(tree, child.node, "arm,psci-suspend-param", &power_state) ||
		    power_state > UINT32_MAX) {
			continue;
		}
		idle_states_add(states, (uint32_t)power_state,
				fdt_getprop(tree, child.node, "local-timer-stop", NULL) != NULL,
				extended);
		count++;
	}
	return count;
}

/*
 * Suspending cores, one at a time or together, with somebody who wakes them if nothing else does.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "el1bench/suspend.h"
#include "stamps.h"

struct sleeper {
	volatile uint64_t awake __attribute__((aligned(64)));
	volatile uint64_t masked; /* from here on, an interrupt ends its sleep and is not taken */
	volatile bool rescued;    /* it slept on past its wake, until another core woke it */
	volatile uint64_t
		due; /* ticks: when it was to wake: the deadline, or the send of the SGI */
	struct suspend_outcome outcome;
	struct stamps stamps;
	uint32_t state;
	bool powers_down;
	bool by_interrupt; /* woken by another core's SGI, not by its own timer */
	bool meets;        /* the others, before it sleeps */
	bool met;
	int32_t guard;  /* the core to send a word to once awake, or -1 */
	uint64_t ticks; /* of sleep */
};

/* What is to be slept; of all cores at once. */
struct sleep_order {
	uint32_t state;
	bool powers_down;
	bool by_interrupt;
	bool unguarded; /* core 0 with nobody to wake it if its own timer does not */
	uint64_t ticks;
};

/* False for a core that an earlier sleep has cost, or left deaf. Core 0, timed code. */
bool sleeper_is_free(uint32_t position);

/* Finds out whether cores can be woken here; NULL, or why not. Core 0, not timed. */
const char *sleepers_prepare(void);

/* Makes the SGI that wakes cores one that does nothing else. Core 0, timed code. */
void sleepers_take_interrupts(void);

/*
 * Puts the core at an online position to sleep and waits until it is back, at most a second or so;
 * NULL if it did not come. Core 0, timed code. Unguarded, there is no bound.
 */
const struct sleeper *sleep_alone(uint32_t position, const struct sleep_order *order);

/*
 * The same for all cores that are free, side by side; without core 0, which wakes the others, if
 * they are woken by an SGI. Returns the position of a core that did not come back, or 0.
 */
uint32_t sleep_together(const struct sleep_order *order);

/* How the latest sleep of the core at a position went; NULL if it took no part in it. */
const struct sleeper *sleeper_at(uint32_t position);

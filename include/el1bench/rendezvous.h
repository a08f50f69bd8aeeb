/*
 * A meeting point of cores, by generations: a core that is slow to leave one meeting cannot miss it
 * because of the next one.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct rendezvous {
	volatile uint64_t generation __attribute__((aligned(64))); /* meetings so far */
	volatile uint64_t arrived __attribute__((aligned(64)));
	uint64_t cores;
};

/* Prepares for meetings of `cores` cores, whatever became of the last one. Nobody is in it. */
void rendezvous_start(struct rendezvous *rendezvous, uint32_t cores);

/*
 * Returns once as many cores have called it, at most some POLL_TIMEOUT_MS later; false if they have
 * not. All leave within the time that a store takes to be seen. Any core, timed code.
 */
bool rendezvous_meet(struct rendezvous *rendezvous);

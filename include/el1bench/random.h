/*
 * A small seeded generator (xorshift64*), so that every order, offset and delay of a boot can be
 * reproduced from the recorded seed. Not for secrets. Any core; a state belongs to one core.
 */
#pragma once

#include <stdint.h>

struct random_state {
	uint64_t state; /* never 0 */
};

/* Seeds; any value, 0 too. Different seeds give unrelated sequences (the seed is hashed first). */
void random_seed(struct random_state *random, uint64_t seed);

/* The next 64 bits. */
uint64_t random_next(struct random_state *random);

/* A number in [0, bound), bound >= 1, without bias worth noting (bound is below 2^32). */
uint32_t random_below(struct random_state *random, uint32_t bound);

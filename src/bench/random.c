/*
 * xorshift64* (Marsaglia; Vigna), seeded through splitmix64 so that neighbouring seeds start far
 * apart.
 */
#include "el1bench/random.h"

#include "el1bench/timed.h"

void random_seed(struct random_state *random, uint64_t seed)
{
	uint64_t hash = seed + UINT64_C(0x9e3779b97f4a7c15);

	hash = (hash ^ (hash >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	hash = (hash ^ (hash >> 27)) * UINT64_C(0x94d049bb133111eb);
	hash ^= hash >> 31;
	random->state = hash == 0 ? 1 : hash;
}

TIMED uint64_t random_next(struct random_state *random)
{
	uint64_t state = random->state;

	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	random->state = state;
	return state * UINT64_C(0x2545f4914f6cdd1d);
}

TIMED uint32_t random_below(struct random_state *random, uint32_t bound)
{
	return (uint32_t)(((random_next(random) >> 32) * bound) >> 32);
}

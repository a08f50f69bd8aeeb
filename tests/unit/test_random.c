/* sources: src/bench/random.c */
/*
 * The generator is reproducible, seeds are told apart, and bounded draws cover their range evenly.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "el1bench/random.h"

static void same_seed_same_sequence(void **state)
{
	struct random_state a;
	struct random_state b;

	(void)state;
	random_seed(&a, 42);
	random_seed(&b, 42);
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(random_next(&a), random_next(&b));
	}
}

/* The published algorithms (splitmix64, xorshift64*), computed elsewhere. */
static void known_answers(void **state)
{
	struct random_state random;

	(void)state;
	random_seed(&random, 1);
	assert_true(random.state == UINT64_C(0x910a2dec89025cc1));
	assert_true(random_next(&random) == UINT64_C(0x4b46a55df3611b9b));
	assert_true(random_next(&random) == UINT64_C(0xd7e1f1410e763ef4));
	assert_true(random_next(&random) == UINT64_C(0x5f14ec66975f9b06));
}

static void seeds_differ(void **state)
{
	uint64_t first[64];

	(void)state;
	for (uint64_t seed = 0; seed < 64; seed++) {
		struct random_state random;

		random_seed(&random, seed);
		assert_int_not_equal(random.state, 0);
		first[seed] = random_next(&random);
		for (uint64_t other = 0; other < seed; other++) {
			assert_int_not_equal(first[seed], first[other]);
		}
	}
}

static void bounded_draws(void **state)
{
	enum { BOUND = 7, DRAWS = 70000 };
	uint32_t counts[BOUND] = {0};
	struct random_state random;

	(void)state;
	random_seed(&random, 1);
	for (int i = 0; i < DRAWS; i++) {
		uint32_t draw = random_below(&random, BOUND);

		assert_true(draw < BOUND);
		counts[draw]++;
	}
	for (int i = 0; i < BOUND; i++) {
		assert_in_range(counts[i], DRAWS / BOUND * 95 / 100, DRAWS / BOUND * 105 / 100);
	}
	assert_int_equal(random_below(&random, 1), 0);
	assert_true(random_below(&random, UINT32_MAX) < UINT32_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_seed_same_sequence),
		cmocka_unit_test(known_answers),
		cmocka_unit_test(seeds_differ),
		cmocka_unit_test(bounded_draws),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

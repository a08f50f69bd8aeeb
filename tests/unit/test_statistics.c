/* sources: src/bench/statistics.c src/bench/sort.c */
/*
 * Quantiles by the documented rank, the mean's rounding, negative and extreme values.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "el1bench/statistics.h"

static void empty_row(void **state)
{
	struct statistics s;

	(void)state;
	statistics_compute(NULL, 0, &s);
	assert_int_equal(s.n, 0);
	assert_false(s.has_p99);
	assert_false(s.has_p999);
}

static void single_sample(void **state)
{
	int64_t values[] = {-7};
	struct statistics s;

	(void)state;
	statistics_compute(values, 1, &s);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.min, -7);
	assert_int_equal(s.max, -7);
	assert_int_equal(s.p50, -7);
	assert_int_equal(s.p90, -7);
	assert_int_equal(s.mean_1024, -7 * 1024);
}

/* Of 0 .. n-1, shuffled, a quantile is its own rank. */
static void ranks(void **state)
{
	static const uint32_t sizes[] = {2, 3, 10, 11, 299, 300, 2999, 3000, 20000};

	(void)state;
	for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
		uint32_t n = sizes[k];
		int64_t *values = calloc(n, sizeof(*values));
		struct statistics s;

		for (uint32_t i = 0; i < n; i++) {
			values[i] = (int64_t)((uint64_t)i * 7919 % n); /* 7919: a prime */
		}
		statistics_compute(values, n, &s);
		for (uint32_t i = 0; i < n; i++) {
			assert_int_equal(values[i], i);
		}
		assert_int_equal(s.p50, (n - 1 + 1) / 2);
		assert_int_equal(s.p90, (9 * (uint64_t)(n - 1) + 5) / 10);
		assert_int_equal(s.has_p99, n >= 300);
		assert_int_equal(s.has_p999, n >= 3000);
		if (s.has_p99) {
			assert_int_equal(s.p99, (99 * (uint64_t)(n - 1) + 50) / 100);
		}
		if (s.has_p999) {
			assert_int_equal(s.p999, (999 * (uint64_t)(n - 1) + 500) / 1000);
		}
		assert_int_equal(s.mean_1024, (int64_t)(n - 1) * 512);
		free(values);
	}
}

static void mean_rounds_to_nearest(void **state)
{
	int64_t thirds[] = {0, 0, 1};
	int64_t below_zero[] = {-1, 0, 0};
	struct statistics s;

	(void)state;
	statistics_compute(thirds, 3, &s);
	assert_int_equal(s.mean_1024, 341); /* 341.33 */
	statistics_compute(below_zero, 3, &s);
	assert_int_equal(s.mean_1024, -341);
}

static void large_values_do_not_overflow(void **state)
{
	enum { N = 1000 };
	int64_t values[N];
	struct statistics s;

	(void)state;
	for (int i = 0; i < N; i++) {
		values[i] = (INT64_C(1) << 52) + i;
	}
	statistics_compute(values, N, &s);
	assert_int_equal(s.mean_1024, (INT64_C(1) << 62) + 999 * 512);
	values[0] = INT64_MIN + 10;
	values[1] = INT64_MAX;
	statistics_compute(values, N, &s);
	assert_int_equal(s.min, INT64_MIN + 10);
	assert_int_equal(s.max, INT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_row),
		cmocka_unit_test(single_sample),
		cmocka_unit_test(ranks),
		cmocka_unit_test(mean_rounds_to_nearest),
		cmocka_unit_test(large_values_do_not_overflow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

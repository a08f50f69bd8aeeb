/* sources: src/bench/precision.c src/bench/sort.c */
/*
 * When the headline counts as sure, against the definition in floating point, on samples as coarse,
 * as wide and as heavy-tailed as they come.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../../src/bench/precision.h"
#include "../../src/bench/sort.h"

#define MOST 20000

static int64_t values[MOST];

static int64_t quantile(const int64_t *sorted, uint32_t n, double q)
{
	return sorted[(uint32_t)floor(q * (n - 1) + 0.5)];
}

/* Half-width of the interval over what it may be: at most 1 if precise. */
static double excess(const int64_t *sorted, uint32_t n, uint32_t step, uint32_t ppm)
{
	double p25 = (double)quantile(sorted, n, 0.25);
	double p75 = (double)quantile(sorted, n, 0.75);
	double middle = (double)quantile(sorted, n, 0.5);
	double half;

	if (p75 - p25 >= 4.0 * step) {
		double reach = 1.959964 * sqrt(n);
		int64_t low = (int64_t)fmax(floor((n - reach) / 2), 1) - 1;
		int64_t high = (int64_t)fmin(ceil(1 + (n + reach) / 2), n) - 1;

		half = (double)(sorted[high] - sorted[low]) / 2;
	} else {
		double fence = 3 * fmax(p75 - p25, step);
		double sum = 0;
		double squares = 0;
		uint32_t kept = 0;

		for (uint32_t i = 0; i < n; i++) {
			double value = (double)sorted[i];

			if (value >= p25 - fence && value <= p75 + fence) {
				sum += value;
				kept++;
			}
		}
		middle = sum / kept;
		for (uint32_t i = 0; i < n; i++) {
			double value = (double)sorted[i];

			if (value >= p25 - fence && value <= p75 + fence) {
				squares += (value - middle) * (value - middle);
			}
		}
		half = 1.959964 * sqrt(squares / (kept - 1) / kept);
	}
	return half / fmax(middle * ppm / 1e6, step / 32.0);
}

static double uniform(void)
{
	return (double)rand() / ((double)RAND_MAX + 1);
}

/* Samples of several shapes around `middle`, `spread` wide, in multiples of `step`. */
static void draw(uint32_t n, double middle, double spread, uint32_t step, int shape)
{
	for (uint32_t i = 0; i < n; i++) {
		double value = middle + spread * (uniform() + uniform() + uniform() - 1.5);

		if (shape == 1 && uniform() < 0.02) {
			value = middle * (2 + 1000 * uniform());
		} else if (shape == 2) {
			value = uniform() < 0.3 ? middle : middle + step;
		}
		values[i] = (int64_t)(fmax(value, 0) / step) * step;
	}
	sort_signed(values, n);
}

static void agrees_with_the_definition(void **state)
{
	static const uint32_t steps[] = {1, 40, 5000, 1U << 20};
	static const uint32_t sizes[] = {6, 7, 128, 512, 4096, MOST};
	uint32_t sure = 0;
	uint32_t unsure = 0;

	(void)state;
	srand(1);
	for (uint32_t round = 0; round < 1500; round++) {
		uint32_t n = sizes[round % 6];
		uint32_t step = steps[(round / 6) % 4];
		double middle = step * exp(uniform() * 12);
		double spread = step * exp(uniform() * 8 - 3);
		uint32_t ppm = (uint32_t)(100 * exp(uniform() * 8));
		double wanted;
		bool found;

		draw(n, middle, spread, step, (int)(round % 3));
		wanted = excess(values, n, step, ppm);
		found = precision_reached(values, n, step, ppm);
		/* To the rounding of large steps. */
		if (found) {
			assert_true(wanted <= 1.01);
			sure++;
		} else {
			assert_true(wanted > 0.97);
			unsure++;
		}
	}
	assert_in_range(sure, 200, 1300);
	assert_in_range(unsure, 200, 1300);
}

static void known_cases(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 100; i++) {
		values[i] = 70;
	}
	assert_true(precision_reached(values, 100, 1, 100));
	assert_true(precision_reached(values, 6, 1, 100));
	assert_false(precision_reached(values, 5, 1, 500000));
	/* An outlier is no reason to go on. */
	values[99] = 1000000000;
	assert_true(precision_reached(values, 100, 1, 100));
	/* Half 7, half 8: a standard error of 0.0503, so a half-width of 1.31 % of 7.5. */
	for (uint32_t i = 0; i < 100; i++) {
		values[i] = i < 50 ? 7 : 8;
	}
	assert_false(precision_reached(values, 100, 1, 13000));
	assert_true(precision_reached(values, 100, 1, 13300));
	/* Nearly nothing, to a 32nd of a step. */
	for (uint32_t i = 0; i < 400; i++) {
		values[i] = i < 380 ? 0 : 1;
	}
	assert_true(precision_reached(values, 400, 1, 10000));
	assert_false(precision_reached(values + 200, 200, 1, 10000));
	/* The largest values there are. */
	for (uint32_t i = 0; i < 100; i++) {
		values[i] = INT64_MAX / 4 + i % 3;
	}
	sort_signed(values, 100);
	assert_true(precision_reached(values, 100, 1, 100));
	for (uint32_t i = 0; i < 100; i++) {
		values[i] = (int64_t)i * (INT64_MAX / 400);
	}
	assert_false(precision_reached(values, 100, 1, 10000));
	assert_true(precision_reached(values, 100, UINT32_MAX, 500000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_the_definition),
		cmocka_unit_test(known_cases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

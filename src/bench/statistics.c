/*
 * Order statistics and the mean of one row, in integers.
 */
#include "el1bench/statistics.h"

#include "sort.h"

/* The sample at rank floor(q * (n - 1) + 1/2), q in thousandths; n >= 1. */
static int64_t quantile(const int64_t *sorted, uint32_t n, uint32_t thousandths)
{
	return sorted[((uint64_t)thousandths * (n - 1) + 500) / 1000];
}

/*
 * The mean in 1/1024 tick. Summed as distances from the minimum, quotient and remainder by n apart,
 * so that no sum can overflow whatever the samples are.
 */
static int64_t mean_1024(const int64_t *sorted, uint32_t n)
{
	uint64_t whole = 0;
	uint64_t rest = 0; /* below n * n */

	for (uint32_t i = 0; i < n; i++) {
		uint64_t distance = (uint64_t)sorted[i] - (uint64_t)sorted[0];

		whole += distance / n;
		rest += distance % n;
	}
	whole += rest / n;
	rest = ((rest % n) * 1024 + n / 2) / n;
	return (int64_t)(((uint64_t)sorted[0] + whole) * 1024 + rest);
}

void statistics_compute(int64_t *values, uint32_t n, struct statistics *statistics)
{
	*statistics = (struct statistics){.n = n};
	if (n == 0) {
		return;
	}
	sort_signed(values, n);
	statistics->min = values[0];
	statistics->max = values[n - 1];
	statistics->mean_1024 = mean_1024(values, n);
	statistics->p50 = quantile(values, n, 500);
	statistics->p90 = quantile(values, n, 900);
	statistics->has_p99 = n >= STATISTICS_P99_MIN;
	if (statistics->has_p99) {
		statistics->p99 = quantile(values, n, 990);
	}
	statistics->has_p999 = n >= STATISTICS_P999_MIN;
	if (statistics->has_p999) {
		statistics->p999 = quantile(values, n, 999);
	}
}

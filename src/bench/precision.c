/*
 * Where the middle half of the samples spans 4 counter steps or more, the headline is the median
 * and its interval comes from ranks; below, it is the mean without far outliers, and its interval
 * 1.96 standard errors to either side. The rules are those of the host (statistics.py).
 */
#include "precision.h"

#define SAMPLES_MIN 6 /* below, minimum and maximum do not enclose the median with 95 % */
#define COARSE_STEPS 4
#define FENCE 3              /* interquartile ranges */
#define Z95_SQUARED 3841459U /* 1.96 squared, in millionths */
#define MILLION 1000000U
#define STEP_LIMIT 256  /* distances are in units that make a step this many at most */
#define TARGET_STEPS 32 /* more than any distance from one kept sample to another, in steps */
#define FRACTION 64     /* of a unit, for half-widths */

/* The sample at rank floor(q * (n - 1) + 1/2), q in quarters. */
static int64_t quartile(const int64_t *sorted, uint32_t n, uint32_t quarters)
{
	return sorted[((uint64_t)quarters * 2 * (n - 1) + 4) / 8];
}

/* The largest r with r * r <= x. */
static uint64_t square_root(uint64_t x)
{
	uint64_t root = 0;

	for (uint64_t bit = UINT64_C(1) << 31; bit != 0; bit >>= 1) {
		if ((root + bit) * (root + bit) <= x) {
			root += bit;
		}
	}
	return root;
}

/* x * ppm / 1000000, without overflow. */
static uint64_t share(uint64_t x, uint32_t ppm)
{
	return x / MILLION * ppm + x % MILLION * ppm / MILLION;
}

static bool median_is_precise(const int64_t *sorted, uint32_t n, uint32_t step, uint32_t ppm)
{
	/* 1.96 sqrt(n), rounded up. */
	uint32_t reach = (uint32_t)square_root((uint64_t)n * Z95_SQUARED / MILLION) + 1;
	uint32_t low = n > reach + 2 ? (n - reach) / 2 - 1 : 0;
	uint32_t high = (n + reach + 1) / 2;
	uint64_t width;

	high = high < n ? high : n - 1;
	width = (uint64_t)(sorted[high] - sorted[low]);
	return width <= share(2 * (uint64_t)quartile(sorted, n, 2), ppm) ||
	       width <= 2 * step / PRECISION_STEP_SHARE;
}

static bool mean_is_precise(const int64_t *sorted, uint32_t n, uint32_t step, uint32_t ppm)
{
	int64_t p25 = quartile(sorted, n, 1);
	int64_t p75 = quartile(sorted, n, 3);
	int64_t reach = FENCE * (p75 - p25 > (int64_t)step ? p75 - p25 : (int64_t)step);
	unsigned __int128 squares = 0;
	unsigned __int128 variance; /* times the square of the number of samples */
	uint64_t kept = 0;
	uint64_t sum = 0;
	uint64_t least;  /* kept sample, in units */
	uint64_t total;  /* of the kept samples, in units */
	uint64_t target; /* half-width times the number of samples, in units / FRACTION */
	uint32_t first = 0;
	uint32_t shift = 0; /* a unit is 2^shift ticks */

	while (step >> shift > STEP_LIMIT) {
		shift++;
	}
	while (sorted[first] < p25 - reach) {
		first++;
	}
	for (uint32_t i = first; i < n && sorted[i] <= p75 + reach; i++) {
		uint64_t distance = (uint64_t)(sorted[i] - sorted[first]) >> shift;

		squares += distance * distance;
		sum += distance;
		kept++;
	}
	least = (uint64_t)sorted[first] >> shift;
	if (share(least, ppm) > TARGET_STEPS * STEP_LIMIT) {
		return true; /* and what follows cannot overflow */
	}
	total = sum + kept * least;
	target = share(total * FRACTION, ppm);
	if (target < kept * FRACTION * (step >> shift) / PRECISION_STEP_SHARE) {
		target = kept * FRACTION * (step >> shift) / PRECISION_STEP_SHARE;
	}
	variance = squares * kept - (unsigned __int128)sum * sum;
	return variance * Z95_SQUARED * FRACTION * FRACTION <=
	       (unsigned __int128)target * target * (kept - 1) * MILLION;
}

bool precision_reached(const int64_t *sorted, uint32_t n, uint32_t step, uint32_t ppm)
{
	int64_t range;

	if (n < SAMPLES_MIN) {
		return false;
	}
	range = quartile(sorted, n, 3) - quartile(sorted, n, 1);
	if (range >= COARSE_STEPS * (int64_t)step) {
		return median_is_precise(sorted, n, step, ppm);
	}
	return mean_is_precise(sorted, n, step, ppm);
}

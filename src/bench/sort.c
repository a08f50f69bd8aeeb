/*
 * A heapsort of 64-bit numbers.
 */
#include "sort.h"

#include <stdbool.h>

#define SIGN_BIT (UINT64_C(1) << 63)

static void sift_down(uint64_t *values, uint32_t root, uint32_t n)
{
	uint64_t value = values[root];

	for (;;) {
		uint64_t child = 2 * (uint64_t)root + 1;

		if (child >= n) {
			break;
		}
		if (child + 1 < n && values[child + 1] > values[child]) {
			child++;
		}
		if (values[child] <= value) {
			break;
		}
		values[root] = values[child];
		root = (uint32_t)child;
	}
	values[root] = value;
}

static bool is_sorted(const uint64_t *values, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		if (values[i - 1] > values[i]) {
			return false;
		}
	}
	return true;
}

void sort_unsigned(uint64_t *values, uint32_t n)
{
	if (is_sorted(values, n)) {
		return;
	}
	for (uint32_t root = n / 2; root-- > 0;) {
		sift_down(values, root, n);
	}
	for (uint32_t last = n; last-- > 1;) {
		uint64_t largest = values[0];

		values[0] = values[last];
		values[last] = largest;
		sift_down(values, 0, last);
	}
}

/* With the sign bit flipped, signed order is unsigned order. */
void sort_signed(int64_t *values, uint32_t n)
{
	uint64_t *flipped = (uint64_t *)values;

	for (uint32_t i = 0; i < n; i++) {
		flipped[i] ^= SIGN_BIT;
	}
	sort_unsigned(flipped, n);
	for (uint32_t i = 0; i < n; i++) {
		flipped[i] ^= SIGN_BIT;
	}
}

/*
 * What a set of whole numbers has in common.
 */
#pragma once

#include <stdint.h>

/* The greatest common divisor; of 0 and a number, that number. Any core, any EL. */
static inline uint64_t common_divisor(uint64_t a, uint64_t b)
{
	while (b != 0) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/*
 * Numbers as text by value, for the many fields of a line that may be empty.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define NUMBER_BYTES 24

struct number {
	char text[NUMBER_BYTES];
};

/* The number in decimal or, if it is not there, `-`. */
struct number number_or_none(bool there, int64_t value);

/* A core's index, or `-` for SAMPLE_NO_CPU. */
struct number number_cpu(int32_t cpu);

/*
 * Formatting of single numbers.
 */
#include "number.h"

#include <inttypes.h>
#include <stdio.h>

#include "el1bench/samples.h"

struct number number_or_none(bool there, int64_t value)
{
	struct number number = {"-"};

	if (there) {
		(void)snprintf(number.text, sizeof(number.text), "%" PRId64, value);
	}
	return number;
}

struct number number_cpu(int32_t cpu)
{
	return number_or_none(cpu != SAMPLE_NO_CPU, cpu);
}

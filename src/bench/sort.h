/*
 * Sorts ascending, in place, in n log n steps whatever the input, without recursion; input that is
 * sorted already costs one pass. Runs on a host too.
 */
#pragma once

#include <stdint.h>

void sort_unsigned(uint64_t *values, uint32_t n);
void sort_signed(int64_t *values, uint32_t n);

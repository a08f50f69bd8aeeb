/*
 * Finds the function that an address lies in, by bisection of the table that the build adds.
 */
#include "el1bench/symbols.h"

#include <stddef.h>

/* From the linker script. */
extern const char image_start[];
extern const char text_end[];

const char *symbol_lookup(uint64_t virtual_address, uint64_t *offset)
{
	const uint64_t start = (uint64_t)(uintptr_t)image_start;
	uint32_t below = 0;
	uint32_t above = symbol_count;

	if (virtual_address < start || virtual_address >= (uint64_t)(uintptr_t)text_end) {
		return NULL;
	}
	const uint64_t wanted = virtual_address - start;

	/* Entries before `below` start at or before the address, entries from `above` on after it. */
	while (below < above) {
		uint32_t middle = below + (above - below) / 2;

		if (symbol_table[middle].offset <= wanted) {
			below = middle + 1;
		} else {
			above = middle;
		}
	}
	if (below == 0) {
		return NULL;
	}
	*offset = wanted - symbol_table[below - 1].offset;
	return &symbol_names[symbol_table[below - 1].name];
}

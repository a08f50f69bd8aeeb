/*
 * Finds the function that an address lies in, by walking the table that the build adds: it is only
 * read when something has gone wrong, so its size counts and its speed does not.
 */
#include "el1bench/symbols.h"

#include <stddef.h>

#define INSTRUCTION_BYTES 4

/* From the linker script. */
extern const char image_start[];
extern const char text_end[];

const char *symbol_lookup(uint64_t virtual_address, uint64_t *offset)
{
	uint64_t start = (uint64_t)(uintptr_t)image_start;
	const uint8_t *entry = symbol_table;
	const char *name = NULL;

	if (virtual_address < start || virtual_address >= (uint64_t)(uintptr_t)text_end) {
		return NULL;
	}
	while (entry < symbol_table_end) {
		uint64_t next = start + (entry[0] | (uint64_t)entry[1] << 8) * INSTRUCTION_BYTES;

		if (next > virtual_address) {
			break;
		}
		start = next;
		name = (const char *)entry + 2;
		for (entry += 2; *entry != 0; entry++) {
		}
		entry++;
	}
	if (name != NULL) {
		*offset = virtual_address - start;
	}
	return name;
}

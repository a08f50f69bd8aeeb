/*
 * Names for addresses of the image's own code, for the exception report. The table is made from the
 * linked image and added in a second link (scripts/cmake/symbols.py); it is empty in the first.
 */
#pragma once

#include <stdint.h>

struct symbol_entry {
	uint32_t offset; /* of the function's first byte, from image_start, in bytes */
	uint32_t name;   /* of its NUL-terminated name in symbol_names, in bytes */
};

extern const uint32_t symbol_count;
extern const struct symbol_entry symbol_table[]; /* symbol_count entries, ascending offsets */
extern const char symbol_names[];

/*
 * The function that `virtual_address` lies in, and the distance from its start in bytes; NULL (and
 * *offset untouched) for an address outside of the image's code. Any core, MMU on, no libc.
 */
const char *symbol_lookup(uint64_t virtual_address, uint64_t *offset);

/*
 * Names for addresses of the image's own code, for the exception report. The table is made from the
 * linked image and added in a second link (scripts/cmake/symbols.py); it is empty in the first.
 */
#pragma once

#include <stdint.h>

/*
 * The functions by ascending address. Each: its distance from the one before (the first: from
 * image_start) in units of 4 bytes, as a 16-bit little-endian number at any alignment, then its
 * NUL-terminated name.
 */
extern const uint8_t symbol_table[];
extern const uint8_t symbol_table_end[];

/*
 * The function that `virtual_address` lies in, and the distance from its start in bytes; NULL (and
 * *offset untouched) for an address outside of the image's code. Any core, MMU on, no libc.
 */
const char *symbol_lookup(uint64_t virtual_address, uint64_t *offset);

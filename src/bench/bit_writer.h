/*
 * Writes bits, most significant first, and can go back to an earlier place. Used by the sample
 * code's table.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bit_writer {
	uint8_t *bytes;
	size_t capacity; /* bits */
	size_t position; /* bits written; set it back to rewind */
	bool overflow;   /* bits beyond the capacity were dropped */
};

/* Bits of G(value), value >= 1: an Elias gamma code. */
static inline uint32_t gamma_bits(uint64_t value)
{
	return 2 * (63 - (uint32_t)__builtin_clzll(value)) + 1;
}

static inline void bit_write(struct bit_writer *writer, bool bit)
{
	uint8_t mask = (uint8_t)(0x80U >> (writer->position % 8));
	uint8_t *byte = &writer->bytes[writer->position / 8];

	if (writer->position >= writer->capacity) {
		writer->overflow = true;
		return;
	}
	*byte = (uint8_t)(bit ? *byte | mask : *byte & (uint8_t)~mask);
	writer->position++;
}

static inline void bit_write_gamma(struct bit_writer *writer, uint64_t value)
{
	uint32_t bits = 64 - (uint32_t)__builtin_clzll(value);

	for (uint32_t i = 1; i < bits; i++) {
		bit_write(writer, false);
	}
	for (uint32_t i = bits; i-- > 0;) {
		bit_write(writer, (value >> i & 1) != 0);
	}
}

/* Fills the last byte up with zero bits; returns the number of bytes. */
static inline size_t bit_write_finish(struct bit_writer *writer)
{
	while (writer->position % 8 != 0) {
		bit_write(writer, false);
	}
	return writer->position / 8;
}

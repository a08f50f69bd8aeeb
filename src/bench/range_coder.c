/*
 * One line of range-coded samples (docs/log-format.md): a 56-bit low and range, bytes put out from
 * the top, carries run back into the bytes that are out already.
 */
#include "el1bench/sample_code.h"

#define TOP (UINT64_C(1) << 56)
#define BOTTOM (UINT64_C(1) << 48)
#define PIECE_BITS 16 /* bits of a position in a leaf that are coded at once */
#define FLUSH_BYTES 1 /* the range is never below BOTTOM, so one byte more names a value in it */

struct range_coder {
	uint64_t low;
	uint64_t range;
	uint8_t *bytes;
	size_t length;
};

/* Adds to low; what goes over the top runs back into the bytes before. */
static void add(struct range_coder *coder, uint64_t amount)
{
	coder->low += amount;
	if (coder->low >= TOP) {
		size_t i = coder->length;

		coder->low -= TOP;
		while (i > 0 && ++coder->bytes[i - 1] == 0) {
			i--;
		}
	}
}

static void put_top_byte(struct range_coder *coder)
{
	coder->bytes[coder->length++] = (uint8_t)(coder->low >> 48);
	coder->low = coder->low << 8 & (TOP - 1);
}

static void code_interval(struct range_coder *coder, uint64_t cumulative, uint64_t count,
			  uint64_t total)
{
	uint64_t unit = coder->range / total;

	add(coder, unit * cumulative);
	coder->range =
		cumulative + count == total ? coder->range - unit * cumulative : unit * count;
	while (coder->range < BOTTOM) {
		put_top_byte(coder);
		coder->range <<= 8;
	}
}

/* The fewest bytes that name a value in [low, low + range), zero bytes at the end left out. */
static void flush(struct range_coder *coder)
{
	for (uint32_t count = 0; count <= FLUSH_BYTES; count++) {
		uint64_t below = TOP >> (8 * count);
		uint64_t rounded = (coder->low + below - 1) & ~(below - 1);

		if (rounded - coder->low < coder->range) {
			add(coder, rounded - coder->low);
			for (uint32_t i = 0; i < count; i++) {
				put_top_byte(coder);
			}
			break;
		}
	}
	while (coder->length > 0 && coder->bytes[coder->length - 1] == 0) {
		coder->length--;
	}
}

/* The last leaf that starts at or before `position`. */
static const struct sample_code_leaf *leaf_of(const struct sample_code *code, uint64_t position)
{
	uint32_t first = 0;
	uint32_t end = code->leaf_count;

	while (end - first > 1) {
		uint32_t middle = first + (end - first) / 2;

		if (code->leaves[middle].base <= position) {
			first = middle;
		} else {
			end = middle;
		}
	}
	return &code->leaves[first];
}

static uint32_t bit_length(uint32_t x)
{
	return 32 - (uint32_t)__builtin_clz(x);
}

/* No sample of the leaf puts out more bytes: its bits, rounded up generously, and a byte begun. */
static size_t bytes_bound(const struct sample_code *code, const struct sample_code_leaf *leaf)
{
	uint32_t bits = bit_length(code->total) - bit_length(leaf->count) + 2 + leaf->order;

	return bits / 8 + 1;
}

static void code_sample(struct range_coder *coder, const struct sample_code *code,
			const struct sample_code_leaf *leaf, uint64_t position)
{
	uint64_t within = position - leaf->base;
	uint32_t left = leaf->order;

	code_interval(coder, leaf->cumulative, leaf->count, code->total);
	while (left > 0) {
		uint32_t bits = left % PIECE_BITS == 0 ? PIECE_BITS : left % PIECE_BITS;

		left -= bits;
		code_interval(coder, within >> left & ((UINT64_C(1) << bits) - 1), 1,
			      UINT64_C(1) << bits);
	}
}

uint32_t sample_code_line(const struct sample_code *code, const uint64_t *values, uint32_t n,
			  uint32_t limit, uint8_t *payload, size_t *payload_bytes)
{
	struct range_coder coder = {.range = TOP, .bytes = payload};
	uint32_t most =
		limit == 0 || limit > SAMPLE_CODE_LINE_SAMPLES ? SAMPLE_CODE_LINE_SAMPLES : limit;
	uint32_t taken = 0;

	while (taken < n && taken < most) {
		uint64_t position = (values[taken] - code->first) / code->unit;
		const struct sample_code_leaf *leaf = leaf_of(code, position);

		if (coder.length + bytes_bound(code, leaf) + FLUSH_BYTES > SAMPLE_CODE_LINE_BYTES) {
			break;
		}
		code_sample(&coder, code, leaf, position);
		taken++;
	}
	flush(&coder);
	*payload_bytes = coder.length;
	return taken;
}

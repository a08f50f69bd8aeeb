/* sources: src/bench/sample_code.c src/bench/sort.c src/bench/range_coder.c src/bench/base85.c */
/*
 * The code of raw samples against a decoder written from docs/log-format.md: everything comes back,
 * and for distributions like those that are measured the size stays near the entropy.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "el1bench/sample_code.h"

#define N 20000
/* Characters that frame the payload of a `raw` line, CR LF too, and of a `table` line. */
#define FRAME_CHARACTERS 46
#define TABLE_PIECE_BYTES 480

/* The decoder: bits, leaves, samples. */

struct bits {
	const uint8_t *bytes;
	size_t count;
	size_t position;
};

static uint32_t next_bit(struct bits *bits)
{
	uint32_t bit;

	assert_true(bits->position < bits->count * 8);
	bit = bits->bytes[bits->position / 8] >> (7 - bits->position % 8) & 1;
	bits->position++;
	return bit;
}

static uint64_t next_gamma(struct bits *bits)
{
	unsigned int zeros = 0;
	uint64_t value = 1;

	while (next_bit(bits) == 0) {
		zeros++;
		assert_true(zeros < 64);
	}
	while (zeros-- > 0) {
		value = value << 1 | next_bit(bits);
	}
	return value;
}

struct decoder {
	struct {
		uint64_t base;
		uint64_t cumulative;
		uint64_t count;
		unsigned int order;
	} leaves[N + 1];
	size_t leaf_count;
	uint64_t total;
	uint64_t first;
	uint64_t unit;
};

static void read_node(struct decoder *decoder, struct bits *bits, uint64_t base, unsigned int order)
{
	uint64_t count;

	if (order > 0 && next_bit(bits) == 1) {
		read_node(decoder, bits, base, order - 1);
		read_node(decoder, bits, base + (UINT64_C(1) << (order - 1)), order - 1);
		return;
	}
	if (order == 0) {
		assert_int_equal(next_bit(bits), 0);
	}
	count = next_gamma(bits) - 1;
	if (count > 0) {
		assert_true(decoder->leaf_count < N + 1);
		decoder->leaves[decoder->leaf_count].base = base;
		decoder->leaves[decoder->leaf_count].cumulative = decoder->total;
		decoder->leaves[decoder->leaf_count].count = count;
		decoder->leaves[decoder->leaf_count].order = order;
		decoder->leaf_count++;
		decoder->total += count;
	}
}

static void read_table(struct decoder *decoder, const uint8_t *table, size_t bytes)
{
	struct bits bits = {table, bytes, 0};
	uint64_t first = next_gamma(&bits) - 1;
	uint64_t unit = next_gamma(&bits);
	uint64_t order = next_gamma(&bits) - 1;

	memset(decoder, 0, sizeof(*decoder));
	decoder->first = first;
	decoder->unit = unit;
	read_node(decoder, &bits, 0, (unsigned int)order);
	assert_true(bits.count * 8 - bits.position < 8);
	while (bits.position < bits.count * 8) {
		assert_int_equal(next_bit(&bits), 0);
	}
}

struct line {
	const uint8_t *bytes;
	size_t count;
	size_t position;
	uint64_t value;
	uint64_t range;
};

static void shift_in(struct line *line)
{
	uint64_t byte = line->position < line->count ? line->bytes[line->position] : 0;

	line->value = line->value * 256 + byte;
	line->position++;
}

static uint64_t decode_target(const struct line *line, uint64_t total)
{
	uint64_t target = line->value / (line->range / total);

	return target < total - 1 ? target : total - 1;
}

static void decode_interval(struct line *line, uint64_t cumulative, uint64_t count, uint64_t total)
{
	uint64_t unit = line->range / total;

	line->value -= unit * cumulative;
	line->range = cumulative + count == total ? line->range - unit * cumulative : unit * count;
	while (line->range < UINT64_C(1) << 48) {
		shift_in(line);
		line->range *= 256;
	}
}

static void read_line(const struct decoder *decoder, const uint8_t *bytes, size_t count,
		      uint64_t *values, uint32_t n)
{
	struct line line = {.bytes = bytes, .count = count, .range = UINT64_C(1) << 56};

	for (int i = 0; i < 7; i++) {
		shift_in(&line);
	}
	for (uint32_t i = 0; i < n; i++) {
		uint64_t target = decode_target(&line, decoder->total);
		size_t first = 0;
		size_t end = decoder->leaf_count;
		uint64_t position = 0;

		while (end - first > 1) {
			size_t middle = (first + end) / 2;

			if (decoder->leaves[middle].cumulative <= target) {
				first = middle;
			} else {
				end = middle;
			}
		}
		decode_interval(&line, decoder->leaves[first].cumulative,
				decoder->leaves[first].count, decoder->total);
		for (unsigned int left = decoder->leaves[first].order; left > 0;) {
			unsigned int piece = left % 16 == 0 ? 16 : left % 16;
			uint64_t part = decode_target(&line, UINT64_C(1) << piece);

			decode_interval(&line, part, 1, UINT64_C(1) << piece);
			position = position << piece | part;
			left -= piece;
		}
		position += decoder->leaves[first].base;
		values[i] = decoder->first + decoder->unit * position;
	}
}

/* What coding one row came to. */
struct size {
	size_t table_bytes;
	size_t table_characters; /* one copy */
	size_t raw_characters;
	size_t lines;
};

/* Codes, decodes, compares. `limit` as for sample_code_line. */
static struct size round_trip(const uint64_t *values, uint32_t n, uint32_t limit)
{
	uint64_t *sorted = malloc(n * sizeof(*sorted));
	uint64_t *decoded = malloc(n * sizeof(*decoded));
	uint8_t *table = malloc(SAMPLE_CODE_TABLE_BYTES(n));
	struct sample_code_leaf *leaves = malloc(n * sizeof(*leaves));
	struct decoder *decoder = malloc(sizeof(*decoder));
	struct sample_code code;
	struct size size = {0};
	uint32_t done = 0;

	memcpy(sorted, values, n * sizeof(*sorted));
	assert_true(sample_code_build(&code, sorted, n, table, SAMPLE_CODE_TABLE_BYTES(n), leaves));
	read_table(decoder, code.table, code.table_bytes);
	assert_int_equal(decoder->total, n);
	size.table_bytes = code.table_bytes;
	size.table_characters = code.table_bytes + (code.table_bytes + 3) / 4;
	while (done < n) {
		/* Exactly as large as promised, so that the sanitizer sees a byte too many. */
		uint8_t *payload = malloc(SAMPLE_CODE_LINE_BYTES);
		char text[SAMPLE_CODE_LINE_BYTES * 2];
		size_t bytes = 0;
		uint32_t taken =
			sample_code_line(&code, values + done, n - done, limit, payload, &bytes);

		assert_in_range(taken, 1, limit == 0 ? n - done : limit);
		assert_true(bytes <= SAMPLE_CODE_LINE_BYTES);
		assert_true(bytes == 0 || payload[bytes - 1] != 0);
		read_line(decoder, payload, bytes, decoded, taken);
		assert_memory_equal(decoded, values + done, taken * sizeof(*values));
		size.raw_characters += base85_encode(text, payload, bytes);
		size.lines++;
		done += taken;
		free(payload);
	}
	free(decoder);
	free(leaves);
	free(table);
	free(decoded);
	free(sorted);
	return size;
}

/* A generator of its own, so that the test depends on nothing else. */
static uint64_t noise_state = 88172645463325252ULL;

static uint64_t noise(void)
{
	noise_state ^= noise_state << 13;
	noise_state ^= noise_state >> 7;
	noise_state ^= noise_state << 17;
	return noise_state;
}

static double uniform(void)
{
	return ((double)(noise() >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2.0 * log(uniform())) * cos(6.283185307179586 * uniform());
}

static int compare(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a;
	uint64_t right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

/* n * H in bits. */
static double entropy_bits(const uint64_t *values, uint32_t n)
{
	uint64_t *sorted = malloc(n * sizeof(*sorted));
	double bits = 0;

	memcpy(sorted, values, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), compare);
	for (uint32_t i = 0; i < n;) {
		uint32_t same = i;

		while (same < n && sorted[same] == sorted[i]) {
			same++;
		}
		bits += (same - i) * log2((double)n / (same - i));
		i = same;
	}
	free(sorted);
	return bits;
}

/*
 * The goals, for values drawn from a source of `source_bits` a sample: where a source has more
 * values than there are samples, the samples' own entropy (at most log2 n) is less than any code
 * that does not know them beforehand can reach, and the source's counts.
 */
static void check_size(const char *name, const uint64_t *values, double source_bits)
{
	struct size size = round_trip(values, N, 0);
	double entropy = entropy_bits(values, N);
	double least = entropy > source_bits * N ? entropy : source_bits * N;
	double coded = (double)(size.raw_characters + 2 * size.table_characters) * log2(85);
	size_t pieces = (size.table_bytes + TABLE_PIECE_BYTES - 1) / TABLE_PIECE_BYTES;
	double section = (double)(size.raw_characters + 2 * size.table_characters +
				  FRAME_CHARACTERS * (size.lines + 2 * pieces));

	printf("%-26s H %6.3f coded / nH %6.3f  over %5.0f bits, section / (nH/8) %.3f table %zu\n",
	       name, entropy / N, coded / least, coded - least, section / (least / 8),
	       size.table_bytes);
	assert_true(coded <= 1.15 * least + 1024);
	if (entropy / N >= 4) {
		assert_true(section <= 1.7 * least / 8);
	}
}

static uint64_t samples[N];

#define FILL(expression)                                                                           \
	for (uint32_t i = 0; i < N; i++) {                                                         \
		samples[i] = (uint64_t)(expression) + SAMPLE_CODE_BIAS;                            \
	}

static void sizes(void **state)
{
	static const int modes[] = {700, 1400, 1407, 3500};

	(void)state;
	FILL(24);
	check_size("constant", samples, 0);
	FILL(noise() % 1000 == 0 ? (1U << 22) + noise() % 1000 : 24);
	check_size("constant, outliers at 2^22", samples, 0);
	FILL(noise() % 2 == 0 ? 24 : 25);
	check_size("two values", samples, 0);
	FILL(noise() % 50 == 0 ? 25 : 24);
	check_size("two values, one rare", samples, 0);
	FILL(40 + normal() * 1.5);
	check_size("narrow peak", samples, 0);
	FILL(noise() % 500 == 0 ? noise() % (1U << 22) : 400 + (uint64_t)(normal() * 12 + 60));
	check_size("peak, scattered outliers", samples, 0);
	FILL(4000 + normal() * 100);
	check_size("peak of 100", samples, 0);
	FILL(exp(8 + 0.5 * normal()));
	check_size("log-normal", samples, 0);
	/* h = log2(sigma * e^(mu + 1/2) * sqrt(2 pi)) */
	FILL(exp(11 + 0.7 * normal()));
	check_size("log-normal, wide", samples, log2(0.7 * exp(11.5) * 2.5066));
	FILL(modes[noise() % 4] + 7 * (int)(normal() * 6));
	check_size("modes, multiples of 7", samples, 0);
	FILL((noise() % 97) * 41);
	check_size("uniform multiples of 41", samples, 0);
	FILL(noise() % (1U << 10));
	check_size("uniform over 2^10", samples, 0);
	FILL((noise() % (1U << 10)) << 12);
	check_size("uniform over 2^10, a tick in 4096", samples, 0);
	FILL(exp(8 + 0.5 * normal()));
	for (size_t i = 0; i < N; i++) {
		samples[i] = samples[i] * 16 + 5;
	}
	check_size("log-normal, a tick in 16", samples, 0);
	FILL(noise() % (1U << 20));
	check_size("uniform over 2^20", samples, 20);
	FILL(2300 + (i & 64) * 3 + normal() * 20);
	check_size("drifting pair of peaks", samples, 0);
}

static void extremes(void **state)
{
	static const uint64_t widest[] = {1,  2,  UINT64_MAX - 1, 5, UINT64_C(1) << 63,
					  15, 16, UINT64_MAX - 1, 0};
	static const uint64_t single[] = {0};

	(void)state;
	(void)round_trip(widest, sizeof(widest) / sizeof(widest[0]), 0);
	(void)round_trip(widest, sizeof(widest) / sizeof(widest[0]), 1);
	(void)round_trip(single, 1, 0);
	FILL(noise());
	(void)round_trip(samples, N, 0);
}

static void fuzz(void **state)
{
	(void)state;
	for (int round = 0; round < 3000; round++) {
		uint32_t n = 1 + (uint32_t)(noise() % (round % 50 == 0 ? 5000 : 300));
		unsigned int shift = (unsigned int)(noise() % 63);
		unsigned int shapes = (unsigned int)(noise() % 8);
		uint64_t base = noise() >> (1 + noise() % 62);

		for (uint32_t i = 0; i < n; i++) {
			uint64_t value = base + ((noise() >> 1) >> shift) % (UINT64_MAX / 4);

			if ((shapes & 1) != 0 && noise() % 16 != 0) {
				value = base;
			}
			if ((shapes & 2) != 0 && noise() % 8 == 0) {
				value = 1 + noise() % 5; /* an exclusion */
			}
			if ((shapes & 4) != 0) {
				value -= value % 7;
			}
			samples[i] = value;
		}
		(void)round_trip(samples, n, (uint32_t)(noise() % 3 == 0 ? 1 + noise() % 20 : 0));
	}
}

static void refusals(void **state)
{
	uint64_t values[64];
	uint8_t table[8];
	struct sample_code_leaf leaves[64];
	struct sample_code code;

	(void)state;
	for (uint32_t i = 0; i < 64; i++) {
		values[i] = (uint64_t)(i % 8) << 40;
	}
	assert_false(sample_code_build(&code, values, 0, table, sizeof(table), leaves));
	assert_false(sample_code_build(&code, values, 64, table, sizeof(table), leaves));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes),
		cmocka_unit_test(extremes),
		cmocka_unit_test(fuzz),
		cmocka_unit_test(refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

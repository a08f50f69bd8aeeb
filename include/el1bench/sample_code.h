/*
 * The compact code of raw samples (docs/log-format.md): a code table fitted to the row,
 * and lines of range-coded samples that each decode on their own. No hardware access; runs on a
 * host too.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SAMPLE_CODE_LINE_BYTES 240 /* payload of a line before base 85 */
#define SAMPLE_CODE_LINE_SAMPLES 4096
#define SAMPLE_CODE_BIAS 16 /* a good value v is coded as v + 16; 1 to 15 are exclusions */

struct sample_code_leaf {
	uint64_t base;       /* first position */
	uint32_t cumulative; /* samples in the leaves before */
	uint32_t count;      /* samples in this one, never 0 */
	uint8_t order;       /* covers 2^order positions */
};

struct sample_code {
	uint8_t *table;     /* the serialised table ... */
	size_t table_bytes; /* ... and its length */
	struct sample_code_leaf *leaves;
	uint32_t leaf_count;
	uint32_t total; /* samples in all */
	uint64_t first; /* position p is the coded value first + unit * p */
	uint64_t unit;
};

#define SAMPLE_CODE_SAMPLES_MAX ((UINT32_C(1) << 24) - 1)
#define SAMPLE_CODE_TABLE_BYTES(n) ((size_t)(n)*8 + 256)

/*
 * Fits a code to `n` coded values (1 <= n <= SAMPLE_CODE_SAMPLES_MAX; overwritten). `table` has
 * room for `table_capacity` bytes (SAMPLE_CODE_TABLE_BYTES(n) are always enough), `leaves` for n
 * entries. False if it does not fit.
 */
bool sample_code_build(struct sample_code *code, uint64_t *values, uint32_t n, uint8_t *table,
		       size_t table_capacity, struct sample_code_leaf *leaves);

/*
 * Encodes as many of `values` (n left) as fit one line, at least one; returns how many.
 * `payload` has room for SAMPLE_CODE_LINE_BYTES; `*payload_bytes` gets what was used. Every value
 * must be one that the code was built from. `limit` caps the number of samples (0: no cap but the
 * line's).
 */
uint32_t sample_code_line(const struct sample_code *code, const uint64_t *values, uint32_t n,
			  uint32_t limit, uint8_t *payload, size_t *payload_bytes);

/* RFC 1924 base 85: four bytes to five characters, a tail of k bytes to k + 1; returns how many. */
size_t base85_encode(char *text, const uint8_t *bytes, size_t count);

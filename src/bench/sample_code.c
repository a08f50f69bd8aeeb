/*
 * Fitting the code table of a row. The table is a dyadic tree over the coded values; which nodes
 * are leaves is chosen by minimum description length: a node is split where the bits that the
 * split saves in the samples exceed those that it costs in the table, which is sent twice.
 */
#include "el1bench/sample_code.h"

#include "bit_writer.h"
#include "common_divisor.h"
#include "sort.h"

#define COST_BIT 256 /* costs are counted in 1/256 bit */
#define TABLE_COPIES 2
#define SPLIT_MIN 4 /* fewer samples never pay for a split */

struct builder {
	struct bit_writer writer;
	const uint64_t *values; /* sorted */
	struct sample_code_leaf *leaves;
	uint32_t leaf_count;
};

/* log2(x) in 1/256, x >= 1, rounded down: the mantissa is squared once for each bit of fraction. */
static uint32_t log2_256(uint32_t x)
{
	uint32_t whole = 31 - (uint32_t)__builtin_clz(x);
	uint64_t mantissa = (uint64_t)x << (31 - whole); /* in [2^31, 2^32) */
	uint32_t fraction = 0;

	for (uint32_t bit = 0; bit < 8; bit++) {
		mantissa = mantissa * mantissa >> 31;
		fraction <<= 1;
		if (mantissa >> 32 != 0) {
			fraction |= 1;
			mantissa >>= 1;
		}
	}
	return whole * 256 + fraction;
}

/*
 * Bits, in 1/256, that a leaf of m samples and 2^order values costs: in the samples (less m times
 * log2 of the total, which all trees have in common) and in the table.
 */
static int64_t leaf_cost(uint32_t m, uint32_t order)
{
	int64_t samples = m == 0 ? 0 : (int64_t)m * ((int64_t)order * COST_BIT - log2_256(m));

	return samples + (int64_t)TABLE_COPIES * COST_BIT * (1 + gamma_bits((uint64_t)m + 1));
}

/* The first index in [first, end) whose value is at least `bound`. */
static uint32_t lower_bound(const uint64_t *values, uint32_t first, uint32_t end, uint64_t bound)
{
	while (first < end) {
		uint32_t middle = first + (end - first) / 2;

		if (values[middle] < bound) {
			first = middle + 1;
		} else {
			end = middle;
		}
	}
	return first;
}

/*
 * Writes the cheapest tree for values[first .. end - 1], all in the node (base, order); returns its
 * cost. The split is written first and taken back if a leaf turns out cheaper. At most 64 deep.
 */
static int64_t fit(struct builder *builder, uint32_t first, uint32_t end, uint64_t base,
		   uint32_t order)
{
	uint32_t m = end - first;
	int64_t as_leaf = leaf_cost(m, order);

	if (order > 0 && m >= SPLIT_MIN) {
		size_t position = builder->writer.position;
		uint32_t leaf_count = builder->leaf_count;
		uint64_t middle = base + (UINT64_C(1) << (order - 1));
		uint32_t boundary = lower_bound(builder->values, first, end, middle);
		int64_t as_split = (int64_t)TABLE_COPIES * COST_BIT;

		bit_write(&builder->writer, true);
		as_split += fit(builder, first, boundary, base, order - 1);
		as_split += fit(builder, boundary, end, middle, order - 1);
		if (as_split < as_leaf) {
			return as_split;
		}
		builder->writer.position = position;
		builder->leaf_count = leaf_count;
	}
	bit_write(&builder->writer, false);
	bit_write_gamma(&builder->writer, (uint64_t)m + 1);
	if (m > 0) {
		builder->leaves[builder->leaf_count++] = (struct sample_code_leaf){
			.base = base,
			.count = m,
			.order = (uint8_t)order,
		};
	}
	return as_leaf;
}

/*
 * Rewrites sorted values as their positions on a grid that starts at the first one: a counter that
 * advances by more than one tick leaves gaps, which would cost bits in every wide leaf. Returns
 * the grid's unit.
 */
static uint64_t to_positions(uint64_t *values, uint32_t n)
{
	uint64_t first = values[0];
	uint64_t unit = 0;

	for (uint32_t i = 1; i < n && unit != 1; i++) {
		unit = common_divisor(values[i] - values[i - 1], unit);
	}
	if (unit == 0) {
		unit = 1;
	}
	for (uint32_t i = 0; i < n; i++) {
		values[i] = (values[i] - first) / unit;
	}
	return unit;
}

bool sample_code_build(struct sample_code *code, uint64_t *values, uint32_t n, uint8_t *table,
		       size_t table_capacity, struct sample_code_leaf *leaves)
{
	struct builder builder = {
		.writer = {.bytes = table, .capacity = table_capacity * 8},
		.values = values,
		.leaves = leaves,
	};
	uint32_t cumulative = 0;
	uint32_t order = 0;
	uint64_t first;
	uint64_t unit;
	uint64_t spread;

	if (n == 0 || n > SAMPLE_CODE_SAMPLES_MAX) {
		return false;
	}
	sort_unsigned(values, n);
	first = values[0];
	unit = to_positions(values, n);
	for (spread = values[n - 1]; spread != 0; spread >>= 1) {
		order++;
	}
	bit_write_gamma(&builder.writer, first + 1);
	bit_write_gamma(&builder.writer, unit);
	bit_write_gamma(&builder.writer, order + 1);
	(void)fit(&builder, 0, n, 0, order);
	for (uint32_t i = 0; i < builder.leaf_count; i++) {
		leaves[i].cumulative = cumulative;
		cumulative += leaves[i].count;
	}
	*code = (struct sample_code){
		.table = table,
		.table_bytes = bit_write_finish(&builder.writer),
		.leaves = leaves,
		.leaf_count = builder.leaf_count,
		.total = n,
		.first = first,
		.unit = unit,
	};
	return !builder.writer.overflow;
}

/*
 * The raw samples of every row, coded: its table, its lines, its table again.
 */
#include <inttypes.h>
#include <stddef.h>

#include "el1bench/arena.h"
#include "el1bench/report.h"
#include "el1bench/sample_code.h"
#include "el1bench/wire.h"
#include "report_state.h"

#define TABLE_PIECE_BYTES 480
#define BASE85_CHARACTERS(bytes) ((bytes) + ((bytes) + 3) / 4)

/* Memory for coding one row, in the arena. */
struct scratch {
	uint64_t *sorted;
	uint64_t *coded;
	uint8_t *table;
	struct sample_code_leaf *leaves;
};

static uint64_t coded_value(int64_t value)
{
	if (sample_is_excluded(value)) {
		return (uint64_t)(value - INT64_MIN);
	}
	return (uint64_t)value + SAMPLE_CODE_BIAS;
}

/*
 * One piece of the table as text: as many bytes as fit whose text is clean. Returns how many; a
 * single byte is two characters and always clean.
 */
static size_t table_piece(const uint8_t *bytes, size_t left, char *text)
{
	size_t count = left < TABLE_PIECE_BYTES ? left : TABLE_PIECE_BYTES;

	for (;; count--) {
		text[base85_encode(text, bytes, count)] = '\0';
		if (wire_is_clean(text) || count == 1) {
			return count;
		}
	}
}

static void report_code_table(uint32_t row, const struct sample_code *code)
{
	static char text[BASE85_CHARACTERS(TABLE_PIECE_BYTES) + 1];
	uint32_t parts = 0;
	uint32_t part = 0;

	for (size_t done = 0; done < code->table_bytes; parts++) {
		done += table_piece(code->table + done, code->table_bytes - done, text);
	}
	for (size_t done = 0; done < code->table_bytes;) {
		done += table_piece(code->table + done, code->table_bytes - done, text);
		part++;
		wire_line("table", "%" PRIu32 " %" PRIu32 "/%" PRIu32 " %s", row, part, parts,
			  text);
	}
}

/*
 * Codes one line of the next samples into `text`; returns how many they are, 0 if a single sample
 * has no clean text.
 */
static uint32_t raw_line(const struct sample_code *code, const uint64_t *values, uint32_t left,
			 char *text)
{
	uint8_t payload[SAMPLE_CODE_LINE_BYTES];
	uint32_t limit = left;

	while (limit > 0) {
		size_t bytes;
		uint32_t taken = sample_code_line(code, values, left, limit, payload, &bytes);
		size_t length = base85_encode(text, payload, bytes);

		if (length == 0) {
			text[length++] = '-';
		}
		text[length] = '\0';
		if (wire_is_clean(text)) {
			return taken;
		}
		limit = taken / 2;
	}
	return 0;
}

static void report_raw_row(uint32_t index, const struct scratch *scratch)
{
	static char text[BASE85_CHARACTERS(SAMPLE_CODE_LINE_BYTES) + 1];
	const struct sample_row *row = samples_row(index);
	struct sample_code code;

	for (uint32_t i = 0; i < row->count; i++) {
		scratch->coded[i] = coded_value(row->values[i]);
		scratch->sorted[i] = scratch->coded[i];
	}
	if (!sample_code_build(&code, scratch->sorted, row->count, scratch->table,
			       SAMPLE_CODE_TABLE_BYTES(row->count), scratch->leaves)) {
		report_failure("dump", "row %" PRIu32 " cannot be coded", index);
		return;
	}
	report_code_table(index, &code);
	for (uint32_t first = 0; first < row->count;) {
		uint32_t taken = raw_line(&code, scratch->coded + first, row->count - first, text);

		if (taken == 0) {
			report_failure("dump",
				       "sample %" PRIu32 " of row %" PRIu32 " cannot be coded",
				       first, index);
			first++;
			continue;
		}
		wire_line("raw", "%" PRIu32 " %" PRIu32 " %" PRIu32 " %s", index, first, taken,
			  text);
		report_counts.raw_lines++;
		first += taken;
	}
	report_code_table(index, &code);
}

void report_raw(void)
{
	size_t mark = arena_mark();
	uint32_t most = 0;
	struct scratch scratch;

	for (uint32_t i = 0; i < samples_row_count(); i++) {
		most = samples_row(i)->count > most ? samples_row(i)->count : most;
	}
	scratch.sorted = arena_take(most * sizeof(*scratch.sorted));
	scratch.coded = arena_take(most * sizeof(*scratch.coded));
	scratch.table = arena_take(SAMPLE_CODE_TABLE_BYTES(most));
	scratch.leaves = arena_take(most * sizeof(*scratch.leaves));
	if (scratch.sorted == NULL || scratch.coded == NULL || scratch.table == NULL ||
	    scratch.leaves == NULL) {
		report_failure("dump", "no memory left to code the samples in");
	} else {
		for (uint32_t i = 0; i < samples_row_count(); i++) {
			if (samples_row(i)->count > 0) {
				report_raw_row(i, &scratch);
			}
		}
	}
	arena_release(mark);
}

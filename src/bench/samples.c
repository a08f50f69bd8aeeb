/*
 * The sample store: an array of rows and, for each that is not derived, its buffer, all taken from
 * the arena before timing starts. Recording is a compare and a store.
 */
#include "el1bench/samples.h"

#include <stddef.h>

#include "el1bench/arena.h"
#include "el1bench/timed.h"

static struct sample_row *rows;
static uint32_t row_capacity;
static uint32_t row_count;
static volatile bool warming;

const char *sample_exclusion_name(enum sample_exclusion reason)
{
	static const char *const names[SAMPLE_EXCLUSIONS] = {
		[SAMPLE_GOOD] = "good",   [SAMPLE_BACKWARDS] = "backwards",
		[SAMPLE_LOST] = "lost",   [SAMPLE_INLINE] = "inline",
		[SAMPLE_EARLY] = "early", [SAMPLE_SPURIOUS] = "spurious",
		[SAMPLE_STALE] = "stale",
	};

	return (unsigned int)reason < SAMPLE_EXCLUSIONS ? names[reason] : "unknown";
}

bool samples_start(uint32_t capacity)
{
	row_count = 0;
	row_capacity = 0;
	rows = NULL;
	warming = false;
	if (capacity == 0) {
		return true;
	}
	rows = arena_take(capacity * sizeof(*rows));
	if (rows == NULL) {
		return false;
	}
	row_capacity = capacity;
	return true;
}

void samples_adopt(struct sample_row *adopted, uint32_t count)
{
	rows = adopted;
	row_capacity = count;
	row_count = count;
}

static struct sample_row *next_row(void)
{
	return row_count < row_capacity ? &rows[row_count++] : NULL;
}

UNTIMED struct sample_row *samples_open(const char *benchmark, const char *metric, int32_t cpu,
					int32_t peer, const char *factors, uint32_t capacity,
					uint32_t offset_bytes)
{
	uint8_t *buffer;
	struct sample_row *row;

	if (row_count == row_capacity) {
		return NULL;
	}
	buffer = arena_take((size_t)capacity * sizeof(int64_t) + offset_bytes);
	row = buffer == NULL ? NULL : next_row();
	if (row == NULL) {
		return NULL;
	}
	*row = (struct sample_row){
		.benchmark = benchmark,
		.metric = metric,
		.factors = factors,
		.unit = SAMPLE_UNIT_TICK,
		.cpu = cpu,
		.peer = peer,
		.operations = 1,
		.capacity = capacity,
		.values = (int64_t *)(void *)(buffer + offset_bytes),
	};
	return row;
}

UNTIMED struct sample_row *samples_open_derived(const char *benchmark, const char *metric,
						const struct sample_row *minuend,
						const struct sample_row *subtrahend)
{
	struct sample_row *row = next_row();

	if (row == NULL) {
		return NULL;
	}
	*row = (struct sample_row){
		.benchmark = benchmark,
		.metric = metric,
		.factors = minuend->factors,
		.unit = minuend->unit,
		.cpu = minuend->cpu,
		.peer = minuend->peer,
		.operations = minuend->operations,
		.minuend = minuend,
		.subtrahend = subtrahend,
	};
	return row;
}

uint32_t samples_row_count(void)
{
	return row_count;
}

struct sample_row *samples_row(uint32_t index)
{
	return index < row_count ? &rows[index] : NULL;
}

TIMED static void store(struct sample_row *row, int64_t value, enum sample_exclusion reason)
{
	if (row->count == 0 && row->warmup_count == 0 && reason == SAMPLE_GOOD) {
		row->cold = value;
		row->has_cold = true;
	}
	if (warming) {
		row->warmup_count++;
		return;
	}
	if (row->count < row->capacity) {
		row->values[row->count++] = value;
		if (reason != SAMPLE_GOOD) {
			row->excluded[reason]++;
		}
	}
}

TIMED void sample_record(struct sample_row *row, int64_t ticks)
{
	if (ticks < 0) {
		store(row, SAMPLE_EXCLUDED(SAMPLE_BACKWARDS), SAMPLE_BACKWARDS);
	} else {
		store(row, ticks, SAMPLE_GOOD);
	}
}

TIMED void sample_exclude(struct sample_row *row, enum sample_exclusion reason)
{
	store(row, SAMPLE_EXCLUDED(reason), reason);
}

TIMED void samples_exclude_latest(const char *benchmark, enum sample_exclusion reason)
{
	for (uint32_t i = 0; i < row_count && !warming; i++) {
		struct sample_row *row = &rows[i];

		if (row->benchmark == benchmark && row->count != 0 &&
		    !sample_is_excluded(row->values[row->count - 1])) {
			row->count--;
			sample_exclude(row, reason);
		}
	}
}

TIMED void samples_warm_up(bool warming_up)
{
	warming = warming_up;
}

TIMED bool samples_are_warming_up(void)
{
	return warming;
}

UNTIMED bool sample_value(const struct sample_row *row, uint32_t index, int64_t *ticks)
{
	int64_t minuend;
	int64_t subtrahend;

	if (row->minuend != NULL) {
		if (!sample_value(row->minuend, index, &minuend) ||
		    !sample_value(row->subtrahend, index, &subtrahend)) {
			return false;
		}
		*ticks = minuend - subtrahend;
		return true;
	}
	if (index >= row->count || sample_is_excluded(row->values[index])) {
		return false;
	}
	*ticks = row->values[index];
	return true;
}

UNTIMED uint32_t sample_count(const struct sample_row *row)
{
	if (row->minuend != NULL) {
		uint32_t minuend = sample_count(row->minuend);
		uint32_t subtrahend = sample_count(row->subtrahend);

		return minuend < subtrahend ? minuend : subtrahend;
	}
	return row->count;
}

/*
 * The sample store. A row is one distribution: (metric, cpu, peer, factors). Rows are opened before
 * timing starts, filled while timing by plain stores, and read after it has ended. Core 0 opens and
 * reads; any one core at a time records into a row.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define SAMPLE_NO_CPU (-1)

/* Why a sample is kept out of the distribution. Its index stays taken. */
enum sample_exclusion {
	SAMPLE_GOOD = 0,
	SAMPLE_BACKWARDS = 1, /* the interval was negative */
	SAMPLE_LOST = 2,      /* an interrupt did not arrive in time */
	SAMPLE_INLINE = 3,    /* a suspend returned to its caller */
	SAMPLE_EARLY = 4,     /* a wake came before it was due */
	SAMPLE_SPURIOUS = 5,  /* an unrelated interrupt hit the interval */
	SAMPLE_STALE = 6,     /* firmware's stamps are of some other call */
	SAMPLE_EXCLUSIONS = 7
};

/* "backwards", "lost", ...: the names in the log and in results.json. */
const char *sample_exclusion_name(enum sample_exclusion reason);

/*
 * What values count: ticks of the physical counter, cycles of a core (cycles.h), or which place a
 * core has in an order.
 */
#define SAMPLE_UNIT_TICK "tick"
#define SAMPLE_UNIT_CYCLE "cycle"
#define SAMPLE_UNIT_PLACE "place"

struct sample_row {
	const char *benchmark; /* "ipi.normal" */
	const char *metric;    /* "total" */
	const char *factors;   /* "key=value,key=value", or NULL */
	const char *unit;      /* of its values; SAMPLE_UNIT_TICK unless changed */
	int32_t cpu;           /* starts the interval; SAMPLE_NO_CPU if none */
	int32_t peer;          /* the other end; SAMPLE_NO_CPU if none */
	uint32_t operations;   /* one sample covers so many; 1 unless batched */
	/* A derived row stores nothing: sample i is minuend[i] - subtrahend[i] if both are good. */
	const struct sample_row *minuend;
	const struct sample_row *subtrahend;
	uint32_t capacity;
	uint32_t count;        /* samples stored, good and excluded */
	int64_t *values;       /* ticks (signed); SAMPLE_EXCLUDED(reason) where excluded */
	uint32_t warmup_count; /* samples taken before the counted ones, not stored */
	bool has_cold;
	int64_t cold; /* the very first sample, ticks */
	uint32_t excluded[SAMPLE_EXCLUSIONS];
};

/* The stored mark of an excluded sample, and its reading. */
#define SAMPLE_EXCLUDED(reason) (INT64_MIN + (int64_t)(reason))
static inline bool sample_is_excluded(int64_t value)
{
	return value < INT64_MIN + SAMPLE_EXCLUSIONS;
}

/* Empties the store; `row_capacity` rows fit from now on. False if the arena is too small. */
bool samples_start(uint32_t row_capacity);

/* Takes `count` rows that are in memory already for the store; only to be read. */
void samples_adopt(struct sample_row *adopted, uint32_t count);

/*
 * Opens a row of `capacity` samples whose buffer starts `offset_bytes` (a multiple of 64) further
 * than it would: the per-boot offset. NULL if rows or memory are used up.
 */
struct sample_row *samples_open(const char *benchmark, const char *metric, int32_t cpu,
				int32_t peer, const char *factors, uint32_t capacity,
				uint32_t offset_bytes);

/* Opens a derived row; NULL if rows are used up. */
struct sample_row *samples_open_derived(const char *benchmark, const char *metric,
					const struct sample_row *minuend,
					const struct sample_row *subtrahend);

uint32_t samples_row_count(void);
struct sample_row *samples_row(uint32_t index);

/*
 * Records one sample of `ticks`, end minus begin, signed: a negative one is excluded as backwards.
 * While the engine warms up it only counts. Timed code; no bounds beyond the row's capacity.
 */
void sample_record(struct sample_row *row, int64_t ticks);

/* Records that sample as excluded for a reason. */
void sample_exclude(struct sample_row *row, enum sample_exclusion reason);

/* Excludes the latest stored sample of each of a benchmark's rows. Timed code. */
void samples_exclude_latest(const char *benchmark, enum sample_exclusion reason);

/* The engine says whether samples count (false) or warm up (true). */
void samples_warm_up(bool warming_up);
bool samples_are_warming_up(void);

/*
 * Sample `index` of any row, derived ones too: false if excluded or not there.
 */
bool sample_value(const struct sample_row *row, uint32_t index, int64_t *ticks);

/* True for a row of places: it says something of others' samples, and is no figure of its own. */
static inline bool sample_row_is_of_places(const struct sample_row *row)
{
	return row->unit[0] == 'p';
}

/* Samples stored: for a derived row, the smaller of its two. */
uint32_t sample_count(const struct sample_row *row);

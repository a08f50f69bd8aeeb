/*
 * What the next boot needs to find finished rows in memory. The parts are written once or only
 * ever added to, and one line of the cache says how far they go, so that a reset at any time leaves
 * the last state or the one before.
 */
#include "el1bench/survivors.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "build_info.h"
#include "el1bench/arena.h"
#include "el1bench/cache.h"
#include "el1bench/mmu.h"
#include "el1bench/wire.h"
#include "engine_state.h"

#define MAGIC UINT64_C(0x31627669767275e1)
#define FACTORS_BYTES 128

/* How far it goes: in one line of the cache, written last. */
struct progress {
	uint64_t magic;
	uint32_t plan_crc;
	uint32_t finished_runs;
	uint32_t running_end; /* behind the last of the unit that comes next */
	uint32_t finished_rows;
	uint32_t runs_crc; /* of the finished ones, as are the next two */
	uint32_t rows_crc;
	uint32_t values_crc; /* samples and factors */
	uint32_t crc;        /* of all above */
};

/* Written once, before timing. */
struct plan {
	struct sample_row *rows;
	uint64_t arena_used; /* at the end of planning: bytes that hold something */
	uint32_t row_count;
	uint32_t stored_count; /* rows that samples are stored in; behind them are derived ones */
	uint32_t derived_crc;
	const struct benchmark *benchmarks[BENCHMARK_MAX];
	struct survivors_boot boot;
};

static struct survivors {
	struct progress progress __attribute__((aligned(64)));
	struct plan plan __attribute__((aligned(64)));
	struct benchmark_run runs[BENCHMARK_MAX]; /* as they ended */
} * store; /* the start of the arena; NULL: nothing is kept */

/* Continues a CRC over something that is to be in memory, not in a cache. */
static uint32_t cover(uint32_t crc, const void *start, size_t bytes)
{
	cache_clean(start, bytes);
	return crc32(crc, start, bytes);
}

static uint32_t cover_values(uint32_t crc, const struct sample_row *row)
{
	crc = cover(crc, row->values, row->count * sizeof(*row->values));
	return row->factors == NULL ? crc : cover(crc, row->factors, FACTORS_BYTES);
}

static uint32_t derived_crc(const struct plan *plan)
{
	return cover(0, plan->rows + plan->stored_count,
		     (plan->row_count - plan->stored_count) * sizeof(*plan->rows));
}

/* Another image's does not match, as its addresses are not this one's. */
static uint32_t progress_crc(const struct progress *progress)
{
	uint32_t build = crc32(0, EL1BENCH_BUILD_ID, sizeof(EL1BENCH_BUILD_ID));

	return crc32(build, progress, offsetof(struct progress, crc));
}

/* No address and no count is used before a checksum that covers it has been found to match. */
static bool is_whole(void)
{
	const struct progress *progress = &store->progress;
	const struct plan *plan = &store->plan;
	uint32_t crc = 0;

	if (progress_crc(progress) != progress->crc ||
	    cover(0, plan, sizeof(*plan)) != progress->plan_crc ||
	    arena_take(plan->arena_used - arena_mark()) == NULL ||
	    derived_crc(plan) != plan->derived_crc ||
	    cover(0, store->runs, progress->finished_runs * sizeof(store->runs[0])) !=
		    progress->runs_crc ||
	    cover(0, plan->rows, progress->finished_rows * sizeof(*plan->rows)) !=
		    progress->rows_crc) {
		return false;
	}
	for (uint32_t i = 0; i < progress->finished_rows; i++) {
		crc = cover_values(crc, &plan->rows[i]);
	}
	return crc == progress->values_crc;
}

enum survivors_state survivors_look(void)
{
	store = arena_take(sizeof(*store));
	if (store == NULL || store->progress.magic != MAGIC) {
		return SURVIVORS_NONE;
	}
	return is_whole() ? SURVIVORS_WHOLE : SURVIVORS_SPOILT;
}

const struct survivors_boot *survivors_adopt(void)
{
	const struct progress *progress = &store->progress;
	struct plan *plan = &store->plan;
	uint32_t finished = progress->finished_rows;

	memset(plan->rows + finished, 0, (plan->stored_count - finished) * sizeof(*plan->rows));
	samples_adopt(plan->rows, plan->row_count);
	engine.run_count = plan->boot.benchmarks;
	for (uint32_t i = 0; i < engine.run_count; i++) {
		struct benchmark_run *run = &engine.runs[i];

		if (i < progress->finished_runs) {
			*run = store->runs[i];
			continue;
		}
		*run = (struct benchmark_run){.benchmark = plan->benchmarks[i]};
		run->state = BENCHMARK_SKIPPED;
		run->reason = "reset before its turn";
		if (i < progress->running_end) {
			run->state = BENCHMARK_FAILED;
			run->reason = "reset while it ran";
		}
	}
	plan->boot.finished = progress->finished_runs;
	return &plan->boot;
}

void survivors_forget(void)
{
	if (store != NULL) {
		store->progress.magic = 0;
		cache_clean(&store->progress, sizeof(store->progress));
		store = NULL;
	}
}

void survivors_keep(void)
{
	store = arena_take(sizeof(*store));
}

/*
 * Factors are text that a benchmark keeps where it likes; a copy in the arena stays. Rows of the
 * same factors have the same pointer and stand side by side, and that remains so.
 */
static bool copy_factors(uint32_t rows)
{
	const char *before = NULL;
	char *copy = NULL;

	for (uint32_t i = 0; i < rows; i++) {
		struct sample_row *row = samples_row(i);

		if (row->minuend != NULL) {
			row->factors = row->minuend->factors;
		} else if (row->factors != NULL) {
			if (row->factors != before) {
				before = row->factors;
				copy = benchmark_memory(FACTORS_BYTES);
				if (copy == NULL) {
					return false;
				}
				(void)strncpy(copy, before, FACTORS_BYTES - 1);
				copy[FACTORS_BYTES - 1] = '\0';
			}
			row->factors = copy;
		}
	}
	return true;
}

static void commit(struct progress *progress)
{
	progress->crc = progress_crc(progress);
	store->progress = *progress;
	cache_clean(&store->progress, sizeof(store->progress));
}

static uint32_t unit_end(uint32_t unit)
{
	return unit < engine.unit_count ? engine.units[unit].first + engine.units[unit].count : 0;
}

bool survivors_begin(void)
{
	struct progress progress = {
		.magic = MAGIC,
		.running_end = unit_end(0),
	};
	struct plan *plan;
	uint32_t rows = samples_row_count();

	if (store == NULL) {
		return true;
	}
	if (!copy_factors(rows)) {
		return false;
	}
	plan = &store->plan;
	memset(plan, 0, sizeof(*plan));
	plan->rows = samples_row(0);
	plan->arena_used = arena_mark();
	plan->boot.seed = engine.arguments->seed;
	plan->boot.entry_stamp = boot_record.entry_stamp;
	plan->boot.boot = engine.arguments->boot;
	plan->row_count = rows;
	while (plan->stored_count < rows && samples_row(plan->stored_count)->minuend == NULL) {
		plan->stored_count++;
	}
	plan->derived_crc = derived_crc(plan);
	plan->boot.benchmarks = unit_end(engine.unit_count - 1);
	for (uint32_t i = 0; i < BENCHMARK_MAX; i++) {
		plan->benchmarks[i] = engine.runs[i].benchmark;
	}
	memcpy(plan->boot.arguments, engine.arguments->text, sizeof(plan->boot.arguments));
	progress.plan_crc = cover(0, plan, sizeof(*plan));
	commit(&progress);
	return true;
}

/* True if the row belongs to one of the runs [first, end). Rows were opened in the runs' order. */
static bool is_of(const struct sample_row *row, uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++) {
		if (engine.runs[i].benchmark->name == row->benchmark) {
			return true;
		}
	}
	return false;
}

void survivors_save(uint32_t unit)
{
	struct progress progress;
	uint32_t first;

	if (store == NULL) {
		return;
	}
	progress = store->progress;
	first = progress.finished_runs;
	progress.finished_runs = unit_end(unit);
	progress.running_end = unit_end(unit + 1);
	for (uint32_t i = first; i < progress.finished_runs; i++) {
		store->runs[i] = engine.runs[i];
		progress.runs_crc =
			cover(progress.runs_crc, &store->runs[i], sizeof(store->runs[i]));
	}
	while (progress.finished_rows < store->plan.stored_count) {
		const struct sample_row *row = samples_row(progress.finished_rows);

		if (!is_of(row, first, progress.finished_runs)) {
			break;
		}
		progress.rows_crc = cover(progress.rows_crc, row, sizeof(*row));
		progress.values_crc = cover_values(progress.values_crc, row);
		progress.finished_rows++;
	}
	commit(&progress);
}

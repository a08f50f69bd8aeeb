/*
 * samples=auto: whether the rows of a unit are precise enough, looked at between blocks of rounds.
 * Each look sorts a copy of the samples, in the arena's free part.
 */
#include <stddef.h>
#include <string.h>

#include "el1bench/arena.h"
#include "engine_state.h"
#include "precision.h"
#include "sort.h"

/* True if the row has no samples (it never will) or its headline is sure enough. */
static bool row_is_precise(const struct sample_row *row, int64_t *values)
{
	uint32_t count = sample_count(row);
	uint32_t good = 0;
	uint32_t step;

	for (uint32_t i = 0; i < count; i++) {
		good += sample_value(row, i, &values[good]) ? 1 : 0;
	}
	sort_signed(values, good);
	step = strcmp(row->unit, SAMPLE_UNIT_TICK) == 0 ? engine.counter_step : 1;
	return count == 0 || precision_reached(values, good, step, engine.ci_ppm);
}

/* How many of a benchmark's rows are not precise enough; differences do not count. */
static uint32_t imprecise_rows(const struct benchmark_run *run, uint32_t *rows)
{
	size_t mark = arena_mark();
	int64_t *values = arena_take(run->samples * sizeof(*values));
	uint32_t imprecise = 0;

	*rows = 0;
	for (uint32_t i = 0; i < samples_row_count(); i++) {
		const struct sample_row *row = samples_row(i);

		if (row->benchmark != run->benchmark->name || row->minuend != NULL ||
		    sample_row_is_of_places(row)) {
			continue;
		}
		(*rows)++;
		if (values == NULL || !row_is_precise(row, values)) {
			imprecise++;
		}
	}
	arena_release(mark);
	return imprecise;
}

bool engine_unit_is_precise(const struct engine_unit *unit)
{
	for (uint32_t i = 0; i < unit->count; i++) {
		const struct benchmark_run *run = &engine.runs[unit->first + i];
		uint32_t rows;

		if (run->state == BENCHMARK_RUNNING && imprecise_rows(run, &rows) > 0) {
			return false;
		}
	}
	return true;
}

void engine_note_imprecise(const struct engine_unit *unit)
{
	for (uint32_t i = 0; i < unit->count; i++) {
		const struct benchmark_run *run = &engine.runs[unit->first + i];
		uint32_t rows;
		uint32_t imprecise;

		if (run->state != BENCHMARK_PASSED || engine_is_check(run->benchmark)) {
			continue;
		}
		imprecise = imprecise_rows(run, &rows);
		if (imprecise > 0) {
			benchmark_note(run,
				       "the cap of %lu samples came before ci= in %lu of %lu rows",
				       run->samples, imprecise, rows);
		}
	}
}

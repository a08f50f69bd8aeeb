/*
 * Medians of pairs of cores as a grid: a line for each sender, a column for each receiver.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "el1bench/wire.h"
#include "number.h"
#include "report_state.h"

#define GRIDS_SHOWN 8 /* of one metric */
#define CELL_BYTES 8
#define LINE_BYTES (REPORT_GRID_CORES * CELL_BYTES + CELL_BYTES)

struct cell {
	bool there;
	int64_t p50;
};

static struct cell cells[REPORT_GRID_CORES][REPORT_GRID_CORES];

static bool belongs(const struct sample_row *row, const char *benchmark, const char *metric)
{
	return row->benchmark == benchmark && strcmp(row->metric, metric) == 0 &&
	       sample_count(row) > 0;
}

static void add_cell(char *line, const char *text)
{
	size_t length = strlen(line);

	(void)snprintf(line + length, LINE_BYTES - length, " %6s", text);
}

static void print_cells(uint32_t cores)
{
	char line[LINE_BYTES] = "  from>to";

	for (uint32_t to = 0; to < cores; to++) {
		add_cell(line, number_cpu((int32_t)to).text);
	}
	text_line("%s", line);
	for (uint32_t from = 0; from < cores; from++) {
		(void)snprintf(line, sizeof(line), "  %6" PRIu32 ">", from);
		for (uint32_t to = 0; to < cores; to++) {
			const struct cell *cell = &cells[from][to];

			add_cell(line, number_or_none(cell->there, cell->p50).text);
		}
		text_line("%s", line);
	}
}

/* The grid of the rows from `first` on that are of one metric and one combination of factors. */
static void print_grid(uint32_t first, const struct statistics *statistics)
{
	const struct sample_row *head = samples_row(first);
	uint32_t cores = 0;

	memset(cells, 0, sizeof(cells));
	for (uint32_t i = first; i < samples_row_count(); i++) {
		const struct sample_row *row = samples_row(i);
		uint32_t from = (uint32_t)row->cpu;
		uint32_t to = (uint32_t)row->peer;

		if (belongs(row, head->benchmark, head->metric) && row->factors == head->factors) {
			cells[from][to].there = statistics[i].n > 0;
			cells[from][to].p50 = statistics[i].p50;
			cores = from >= cores ? from + 1 : cores;
			cores = to >= cores ? to + 1 : cores;
		}
	}
	text_line("  %s.%s, p50 in ticks%s%s", head->benchmark, head->metric,
		  head->factors == NULL ? "" : ", ", head->factors == NULL ? "" : head->factors);
	print_cells(cores);
}

/* True if an earlier row is of the same metric and combination of factors. */
static bool is_known(uint32_t index)
{
	const struct sample_row *row = samples_row(index);

	for (uint32_t i = 0; i < index; i++) {
		const struct sample_row *other = samples_row(i);

		if (belongs(other, row->benchmark, row->metric) && other->factors == row->factors) {
			return true;
		}
	}
	return false;
}

void report_grids(const char *benchmark, const char *metric, const struct statistics *statistics)
{
	const char *factors = NULL;
	uint32_t printed = 0;

	for (uint32_t i = 0; i < samples_row_count(); i++) {
		const struct sample_row *row = samples_row(i);

		/* Rows of one combination follow each other, most of them: no need to look back. */
		if ((printed > 0 && row->factors == factors) || !belongs(row, benchmark, metric) ||
		    is_known(i)) {
			continue;
		}
		if (printed == GRIDS_SHOWN) {
			text_line("  and more combinations of factors");
			return;
		}
		print_grid(i, statistics);
		factors = row->factors;
		printed++;
	}
}

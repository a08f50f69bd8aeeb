/*
 * Firmware's view of PSCI calls as one line for each test and core, in nanoseconds, for test farms
 * that read the console and have no host tool.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "el1bench/console.h"
#include "el1bench/counter.h"
#include "el1bench/cpu.h"
#include "el1bench/wire.h"
#include "report_state.h"

#define NAME_BYTES 64
#define LINE_BYTES 192
#define MPIDR_MT (UINT64_C(1) << 24)

/* A line starts with a row of the first metric; the others follow where a core has them. */
static const char *const first_metrics[] = {"powerdown", "el3"};
static const char *const more_metrics[] = {"wakeup", "cache-flush"};

#define FIRST_METRICS (sizeof(first_metrics) / sizeof(first_metrics[0]))
#define MORE_METRICS (sizeof(more_metrics) / sizeof(more_metrics[0]))

/* The benchmark's name in letters, digits and underscores. */
static void line_name(const char *benchmark, char name[NAME_BYTES])
{
	(void)snprintf(name, NAME_BYTES, "%s", benchmark);
	for (char *c = name; *c != '\0'; c++) {
		if (*c == '.' || *c == '-') {
			*c = '_';
		}
	}
}

/* Appends the median in whole nanoseconds; `ticks` is not negative. */
static void add_median(char *line, int64_t ticks)
{
	uint64_t hz = counter_hz();
	uint64_t seconds = (uint64_t)ticks / hz;
	uint64_t rest = (uint64_t)ticks % hz;
	size_t length = strlen(line);

	(void)snprintf(line + length, LINE_BYTES - length, "\t%" PRIu64,
		       seconds * 1000000000U + (rest * 1000000000U + hz / 2) / hz);
}

/* The statistics of another metric of the same test and core; NULL without a good sample. */
static const struct statistics *find(const struct sample_row *row, const char *metric,
				     const struct statistics *statistics)
{
	for (uint32_t i = 0; i < samples_row_count(); i++) {
		const struct sample_row *other = samples_row(i);

		if (other->benchmark == row->benchmark && other->cpu == row->cpu &&
		    strcmp(other->metric, metric) == 0) {
			return statistics[i].n > 0 ? &statistics[i] : NULL;
		}
	}
	return NULL;
}

/* With MPIDR's MT bit, the lowest level of affinity is that of threads. */
static void report_line(const struct sample_row *row, int64_t median,
			const struct statistics *statistics)
{
	uint64_t mpidr = cpus[row->cpu].mpidr;
	uint32_t affinity = (uint32_t)((mpidr >> 8 & 0xff000000) | (mpidr & 0xffffff));
	char line[LINE_BYTES];
	char name[NAME_BYTES];
	size_t length;

	if ((mpidr & MPIDR_MT) != 0) {
		affinity >>= 8;
	}
	line_name(row->benchmark, name);
	(void)snprintf(line, sizeof(line), "<RT_INSTR:%s\t%" PRIu32 "\t%" PRIu32, name,
		       affinity >> 8, affinity & 0xff);
	add_median(line, median);
	for (unsigned int i = 0; i < MORE_METRICS; i++) {
		const struct statistics *more = find(row, more_metrics[i], statistics);

		if (more == NULL) {
			break;
		}
		add_median(line, more->p50);
	}
	length = strlen(line);
	(void)snprintf(line + length, sizeof(line) - length, "/>\n");
	console_write(line, strlen(line));
}

void report_rt_instr(const struct statistics *statistics)
{
	for (uint32_t i = 0; i < samples_row_count(); i++) {
		const struct sample_row *row = samples_row(i);

		for (unsigned int first = 0; first < FIRST_METRICS; first++) {
			if (row->cpu >= 0 && statistics[i].n > 0 &&
			    strcmp(row->metric, first_metrics[first]) == 0) {
				report_line(row, statistics[i].p50, statistics);
			}
		}
	}
}

/*
 * ipi.broadcast: one SGI to all other online cores, which poll with `yield`.
 *
 * Metrics `first` and `last`: core 0 before the send -> the earliest and the latest receiver's
 * vector stub. Metric `total`: core 0 before the send -> core 0 has seen all acknowledgements.
 */
#include <stddef.h>

#include "el1bench/smp.h"
#include "ipi.h"

enum { FIRST, LAST, TOTAL };

static uint32_t row_count(uint32_t online)
{
	(void)online;
	return 3;
}

static bool prepare(struct benchmark_run *run)
{
	if (!ipi_available(run, 2)) {
		return false;
	}
	run->rows[FIRST] = benchmark_row(run, "first", 0, SAMPLE_NO_CPU, NULL);
	run->rows[LAST] = benchmark_row(run, "last", 0, SAMPLE_NO_CPU, NULL);
	run->rows[TOTAL] = benchmark_row(run, "total", 0, SAMPLE_NO_CPU, NULL);
	return run->rows[FIRST] != NULL && run->rows[LAST] != NULL && run->rows[TOTAL] != NULL;
}

TIMED static bool sample(struct benchmark_run *run)
{
	uint32_t others = smp_online_count() - 1;
	struct ipi_stamps stamps;

	if (!ipi_receivers(run, 1, others, ipi_acknowledge) || !ipi_send_to_others(run, &stamps)) {
		return false;
	}
	sample_record(run->rows[FIRST], (int64_t)(stamps.first - stamps.begin));
	sample_record(run->rows[LAST], (int64_t)(stamps.last - stamps.begin));
	sample_record(run->rows[TOTAL], (int64_t)(stamps.end - stamps.begin));
	return true;
}

static const struct benchmark ipi_broadcast = {
	.name = "ipi.broadcast",
	.summary = "an interrupt from core 0 to all others",
	.group = IPI_GROUP,
	.control = IPI_CONTROL,
	.row_count = row_count,
	.prepare = prepare,
	.sample = sample,
	.finish = ipi_finish,
};

BENCHMARK(ipi_broadcast);

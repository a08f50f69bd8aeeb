/*
 * ipi.dry-run: everything but the send. The base line that every other IPI benchmark is sampled
 * alternately with and shown relative to.
 *
 * Metric `total`: sender's end - begin, core 0, where the awaited acknowledgement is there already.
 */
#include <stddef.h>

#include "ipi.h"

TIMED static void send_nothing(uint32_t cpu, uint32_t intid)
{
	(void)cpu;
	(void)intid;
}

static uint32_t row_count(uint32_t online)
{
	(void)online;
	return 1;
}

static bool prepare(struct benchmark_run *run)
{
	if (!ipi_available(run, 1)) {
		return false;
	}
	run->rows[0] = benchmark_row(run, "total", 0, SAMPLE_NO_CPU, NULL);
	return run->rows[0] != NULL;
}

TIMED static bool sample(struct benchmark_run *run)
{
	struct ipi_stamps stamps;

	if (!ipi_receivers(run, 0, 0, ipi_acknowledge) ||
	    !ipi_send_to_one(run, send_nothing, 0, 0, &stamps)) {
		return false;
	}
	sample_record(run->rows[0], (int64_t)(stamps.end - stamps.begin));
	return true;
}

static const struct benchmark ipi_dry_run = {
	.name = IPI_CONTROL,
	.summary = "everything but the send",
	.group = IPI_GROUP,
	.row_count = row_count,
	.prepare = prepare,
	.sample = sample,
	.finish = ipi_finish,
};

BENCHMARK(ipi_dry_run);

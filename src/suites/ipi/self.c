/*
 * ipi.self: an SGI from core 0 to itself.
 *
 * Metric `delivery`: before the send -> the vector stub, both on core 0.
 * Metric `total`: before the send -> the sender has seen the acknowledgement.
 */
#include "ipi.h"

#define TARGET 0 /* its position among the online cores */

static bool prepare(struct benchmark_run *run)
{
	return ipi_unicast_prepare(run, TARGET);
}

TIMED static bool sample(struct benchmark_run *run)
{
	return ipi_unicast_sample(run, TARGET);
}

static const struct benchmark ipi_self = {
	.name = "ipi.self",
	.summary = "an interrupt of core 0 to itself",
	.group = IPI_GROUP,
	.control = IPI_CONTROL,
	.row_count = ipi_unicast_row_count,
	.prepare = prepare,
	.sample = sample,
	.finish = ipi_finish,
};

BENCHMARK(ipi_self);

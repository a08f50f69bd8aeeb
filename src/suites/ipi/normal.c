/*
 * ipi.normal: an SGI from core 0 to the next online core, which polls with `yield`.
 *
 * Metric `delivery`: core 0 before the send -> the receiver's vector stub.
 * Metric `total`: core 0 before the send -> core 0 has seen the acknowledgement.
 */
#include "ipi.h"

#define TARGET 1 /* its position among the online cores */

static bool prepare(struct benchmark_run *run)
{
	return ipi_unicast_prepare(run, TARGET);
}

TIMED static bool sample(struct benchmark_run *run)
{
	return ipi_unicast_sample(run, TARGET);
}

static const struct benchmark ipi_normal = {
	.name = "ipi.normal",
	.summary = "an interrupt from core 0 to another core",
	.group = IPI_GROUP,
	.control = IPI_CONTROL,
	.row_count = ipi_unicast_row_count,
	.prepare = prepare,
	.sample = sample,
	.finish = ipi_finish,
};

BENCHMARK(ipi_normal);

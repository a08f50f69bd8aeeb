/*
 * ipi.normal: an SGI from core 0 to the next online core, which polls with `yield`. ipi.self: an
 * SGI from core 0 to itself.
 *
 * Metric `delivery`: core 0 before the send -> the receiver's vector stub.
 * Metric `total`: core 0 before the send -> core 0 has seen the acknowledgement.
 */
#include "el1bench/smp.h"
#include "ipi.h"

enum { DELIVERY, TOTAL, ROWS };

/* A benchmark's variant: the receiver's position among the online cores. */
enum { TO_ITSELF, TO_THE_NEXT };

static uint32_t row_count(uint32_t online)
{
	(void)online;
	return ROWS;
}

static bool prepare(struct benchmark_run *run)
{
	uint32_t position = run->benchmark->variant;
	int32_t peer;

	if (!ipi_available(run, position + 1)) {
		return false;
	}
	peer = (int32_t)smp_online_cpu(position);
	run->rows[DELIVERY] = benchmark_row(run, "delivery", 0, peer, NULL);
	run->rows[TOTAL] = benchmark_row(run, "total", 0, peer, NULL);
	return run->rows[DELIVERY] != NULL && run->rows[TOTAL] != NULL;
}

TIMED static bool sample(struct benchmark_run *run)
{
	uint32_t position = run->benchmark->variant;
	struct ipi_stamps stamps;

	if (!ipi_receivers(run, position, 1, ipi_acknowledge) ||
	    !ipi_send_to_one(run, gic->send, smp_online_cpu(position), 1, &stamps)) {
		return false;
	}
	sample_record(run->rows[DELIVERY], (int64_t)(stamps.first - stamps.begin));
	sample_record(run->rows[TOTAL], (int64_t)(stamps.end - stamps.begin));
	return true;
}

#define UNICAST_BENCHMARK(identifier, text, what, position)                                        \
	static const struct benchmark identifier = {                                               \
		.name = text,                                                                      \
		.summary = what,                                                                   \
		.group = IPI_GROUP,                                                                \
		.control = IPI_CONTROL,                                                            \
		.variant = position,                                                               \
		.row_count = row_count,                                                            \
		.prepare = prepare,                                                                \
		.sample = sample,                                                                  \
		.finish = ipi_finish,                                                              \
	};                                                                                         \
	BENCHMARK(identifier)

UNICAST_BENCHMARK(ipi_normal, "ipi.normal", "an interrupt from core 0 to another core",
		  TO_THE_NEXT);
UNICAST_BENCHMARK(ipi_self, "ipi.self", "an interrupt of core 0 to itself", TO_ITSELF);

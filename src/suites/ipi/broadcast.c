/*
 * ipi.broadcast: one SGI to all other online cores, which poll with `yield`.
 *
 * Metrics `first` and `last`: core 0 before the send -> the earliest and the latest receiver's
 * vector stub. Metric `total`: core 0 before the send -> core 0 has seen all acknowledgements.
 */
#include <stddef.h>

#include "el1bench/counter.h"
#include "el1bench/poll.h"
#include "el1bench/smp.h"
#include "ipi.h"

enum { FIRST, LAST, TOTAL, SEND, BROADCAST_ROWS };

static uint32_t row_count(uint32_t online)
{
	(void)online;
	return BROADCAST_ROWS;
}

UNTIMED static bool prepare(struct benchmark_run *run)
{
	if (!ipi_available(run, 2)) {
		return false;
	}
	run->rows[FIRST] = benchmark_row(run, "first", 0, SAMPLE_NO_CPU, NULL);
	run->rows[LAST] = benchmark_row(run, "last", 0, SAMPLE_NO_CPU, NULL);
	run->rows[TOTAL] = benchmark_row(run, "total", 0, SAMPLE_NO_CPU, NULL);
	run->rows[SEND] = benchmark_row(run, "send", 0, SAMPLE_NO_CPU, NULL);
	return run->rows[FIRST] != NULL && run->rows[LAST] != NULL && run->rows[TOTAL] != NULL &&
	       run->rows[SEND] != NULL;
}

/* The sender's own cost, in a round of its own, as a second stamp would lengthen the others. */
TIMED static bool sample_send(struct benchmark_run *run)
{
	void (*send_others)(uint32_t intid) = gic->send_others;
	static uint64_t expected[CPU_MAX];
	uint64_t begin;
	uint64_t end;

	for (uint32_t position = 1; position < smp_online_count(); position++) {
		expected[position] = ipi_slot(smp_online_cpu(position))->acknowledged + 1;
	}
	begin = counter_begin();
	send_others(GIC_SGI_BENCH);
	end = counter_end();
	for (uint32_t position = 1; position < smp_online_count(); position++) {
		uint32_t cpu = smp_online_cpu(position);

		if (!poll_until(&ipi_slot(cpu)->acknowledged, expected[position])) {
			sample_exclude(run->rows[SEND], SAMPLE_LOST);
			return benchmark_fail(run, "core %lu did not acknowledge sample %lu", cpu,
					      run->index, 0);
		}
	}
	sample_record(run->rows[SEND], (int64_t)(end - begin));
	return true;
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
	return sample_send(run);
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

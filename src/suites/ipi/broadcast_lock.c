/*
 * ipi.broadcast-lock: a broadcast whose receivers each take one shared lock before they
 * acknowledge. What it adds to ipi.broadcast is the price of contention.
 *
 * Metric `total`: core 0 before the send -> core 0 has seen all acknowledgements.
 */
#include <stddef.h>

#include "el1bench/poll.h"
#include "el1bench/smp.h"
#include "ipi.h"

static struct {
	volatile uint64_t serving __attribute__((aligned(64)));
	volatile uint64_t next_ticket __attribute__((aligned(64)));
	volatile uint64_t holders; /* only ever changed under the lock */
} lock;

/* On each receiver: a ticket lock around one addition, then the usual acknowledgement. */
TIMED static void lock_and_acknowledge(uint32_t intid, uint32_t source, uint64_t stamp)
{
	uint64_t ticket = __atomic_fetch_add(&lock.next_ticket, 1, __ATOMIC_RELAXED);

	/* Without its turn it does not acknowledge either: the sender reports it as lost. */
	if (!poll_until(&lock.serving, ticket)) {
		return;
	}
	lock.holders++;
	poll_publish(&lock.serving, ticket + 1);
	ipi_acknowledge(intid, source, stamp);
}

static uint32_t row_count(uint32_t online)
{
	(void)online;
	return 1;
}

static bool prepare(struct benchmark_run *run)
{
	if (!ipi_available(run, 2)) {
		return false;
	}
	run->rows[0] = benchmark_row(run, "total", 0, SAMPLE_NO_CPU, NULL);
	return run->rows[0] != NULL;
}

TIMED static bool sample(struct benchmark_run *run)
{
	uint32_t others = smp_online_count() - 1;
	uint64_t holders = lock.holders;
	struct ipi_stamps stamps;

	if (!ipi_receivers(run, 1, others, lock_and_acknowledge) ||
	    !ipi_send_to_others(run, &stamps)) {
		return false;
	}
	if (lock.holders - holders != others) {
		return benchmark_fail(run, "%lu cores went through the lock, not %lu",
				      lock.holders - holders, others, 0);
	}
	sample_record(run->rows[0], (int64_t)(stamps.end - stamps.begin));
	return true;
}

static const struct benchmark ipi_broadcast_lock = {
	.name = "ipi.broadcast-lock",
	.summary = "a broadcast whose receivers take one shared lock",
	.group = IPI_GROUP,
	.control = IPI_CONTROL,
	.row_count = row_count,
	.prepare = prepare,
	.sample = sample,
	.finish = ipi_finish,
};

BENCHMARK(ipi_broadcast_lock);

/*
 * The machinery of the IPI benchmarks. An acknowledgement is a count in a cache line of the
 * receiver's own, published after the vector stub's stamp, so that the sender who has seen the
 * count may read the stamp.
 */
#include "ipi.h"

#include <stddef.h>

#include "el1bench/counter.h"
#include "el1bench/cpu.h"
#include "el1bench/poll.h"
#include "el1bench/smp.h"

#define STOP_TIMEOUT_MS 1000

struct ipi_receiver {
	volatile uint64_t polling __attribute__((aligned(64)));
	volatile uint64_t stop;
};

static struct ipi_slot slots[CPU_MAX];
static struct ipi_receiver receivers[CPU_MAX];

UNTIMED bool ipi_available(struct benchmark_run *run, uint32_t cores)
{
	if (gic == NULL) {
		return benchmark_skip(run, "there is no interrupt controller", 0, 0, 0);
	}
	if (smp_online_count() < cores) {
		return benchmark_skip(run, "it takes %lu cores, %lu online", cores,
				      smp_online_count(), 0);
	}
	for (uint32_t cpu = 0; cpu < CPU_MAX; cpu++) {
		cpus[cpu].handler_data = &slots[cpu];
	}
	return true;
}

TIMED const struct ipi_slot *ipi_slot(uint32_t cpu)
{
	return &slots[cpu];
}

TIMED const volatile uint64_t *ipi_acknowledgements(uint32_t cpu)
{
	return &slots[cpu].acknowledged;
}

/* A receiver: polls with `yield`, interrupts on, until it is told to stop. */
TIMED static void poll_for_interrupts(void *argument)
{
	struct ipi_receiver *receiver = argument;

	poll_publish(&receiver->polling, 1);
	while (poll_read(&receiver->stop) == 0) {
		cpu_yield();
	}
}

TIMED static bool start_receiver(uint32_t cpu)
{
	struct ipi_receiver *receiver = &receivers[cpu];

	if (poll_read(&receiver->polling) != 0) {
		return true;
	}
	receiver->stop = 0;
	return smp_post(cpu, poll_for_interrupts, receiver) && poll_until(&receiver->polling, 1);
}

TIMED static bool stop_receiver(uint32_t cpu)
{
	struct ipi_receiver *receiver = &receivers[cpu];

	if (poll_read(&receiver->polling) == 0) {
		return true;
	}
	poll_publish(&receiver->stop, 1);
	if (!smp_wait(cpu, STOP_TIMEOUT_MS)) {
		return false;
	}
	receiver->polling = 0;
	return true;
}

TIMED bool ipi_receivers(struct benchmark_run *run, uint32_t first, uint32_t count,
			 gic_handler handler)
{
	for (uint32_t position = 1; position < smp_online_count(); position++) {
		uint32_t cpu = smp_online_cpu(position);
		bool wanted = position >= first && position < first + count;

		if (!(wanted ? start_receiver(cpu) : stop_receiver(cpu))) {
			return benchmark_fail(run, "core %lu did not start or stop polling", cpu, 0,
					      0);
		}
	}
	gic_set_handler(GIC_SGI_BENCH, handler);
	return true;
}

TIMED void ipi_finish(struct benchmark_run *run)
{
	(void)ipi_receivers(run, 0, 0, NULL);
}

TIMED void ipi_lost(struct benchmark_run *run, uint32_t cpu)
{
	for (uint32_t i = 0; i < sizeof(run->rows) / sizeof(run->rows[0]); i++) {
		if (run->rows[i] != NULL) {
			sample_exclude(run->rows[i], SAMPLE_LOST);
		}
	}
	(void)benchmark_fail(run, "core %lu did not acknowledge sample %lu", cpu, run->index, 0);
}

TIMED bool ipi_send_to_one(struct benchmark_run *run, ipi_send send, uint32_t cpu,
			   uint32_t arrivals, struct ipi_stamps *stamps)
{
	const struct ipi_slot *slot = &slots[cpu];
	uint64_t expected = slot->acknowledged + arrivals;
	uint64_t begin = ipi_begin_and_send(send, cpu);

	if (!poll_until(&slot->acknowledged, expected)) {
		ipi_lost(run, cpu);
		return false;
	}
	stamps->end = counter_end();
	stamps->begin = begin;
	stamps->first = slot->stamp;
	stamps->last = slot->stamp;
	return true;
}

TIMED bool ipi_send_to_others(struct benchmark_run *run, struct ipi_stamps *stamps)
{
	/* Looked up before the clock starts, so that the loop polls and does nothing else. */
	struct {
		const struct ipi_slot *slot;
		uint64_t expected;
	} waits[CPU_MAX];
	void (*send_others)(uint32_t intid) = gic->send_others;
	uint32_t others = smp_online_count() - 1;
	uint64_t begin;

	for (uint32_t i = 0; i < others; i++) {
		waits[i].slot = &slots[smp_online_cpu(1 + i)];
		waits[i].expected = waits[i].slot->acknowledged + 1;
	}

	begin = counter_begin();
	send_others(GIC_SGI_BENCH);
	/* After one hint most answers are there: one for each would weigh more than the answer. */
	cpu_yield();
	for (uint32_t i = 0; i < others; i++) {
		if (poll_read(&waits[i].slot->acknowledged) != waits[i].expected &&
		    !poll_until(&waits[i].slot->acknowledged, waits[i].expected)) {
			ipi_lost(run, smp_online_cpu(1 + i));
			return false;
		}
	}
	stamps->end = counter_end();

	stamps->begin = begin;
	stamps->first = UINT64_MAX;
	stamps->last = 0;
	for (uint32_t i = 0; i < others; i++) {
		uint64_t stamp = waits[i].slot->stamp;

		stamps->first = stamp < stamps->first ? stamp : stamps->first;
		stamps->last = stamp > stamps->last ? stamp : stamps->last;
	}
	return true;
}

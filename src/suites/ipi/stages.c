/*
 * ipi.stages: where the time of ipi.normal goes. The same interrupt, with the counter read in
 * between on both sides; what the readings cost is a result of its own.
 *
 * Metric `send`: core 0 before the send -> core 0 after it, the register write issued.
 * Metric `entry`: core 0 before the send -> the receiver's vector stub, before the acknowledge.
 * Metric `acknowledge`: vector stub -> the acknowledge has been completed.
 * Metric `handler`: the acknowledge -> the handler has returned.
 * Metric `end-of-interrupt`: before the end of interrupt -> it has been completed.
 * Metric `return`: the end of interrupt -> the interrupted code reads the counter.
 * Metric `total`: core 0 before the send -> core 0 has seen the acknowledgement. Less the
 * ipi.normal.total of the same round, it is the probe effect (`net`).
 */
#include <stddef.h>

#include "el1bench/counter.h"
#include "el1bench/poll.h"
#include "el1bench/smp.h"
#include "ipi.h"

#define TARGET 1 /* its position among the online cores */
#define STOP_TIMEOUT_MS 1000

enum { SEND, ENTRY, ACKNOWLEDGE, HANDLER, END_OF_INTERRUPT, RETURN, TOTAL, ROWS };

static struct {
	/* Written by core 0. */
	const volatile uint64_t *acknowledged __attribute__((aligned(64)));
	uint64_t expected;
	volatile uint64_t stop;
	/* Written by the receiver. */
	volatile uint64_t running __attribute__((aligned(64)));
	volatile uint64_t back; /* 1 once `returned` holds */
	uint64_t returned;      /* the first reading after the interrupt, ticks */
} receiver;

/*
 * Polls with `yield`, like the receiver of ipi.normal, and reads the counter each time around. The
 * interrupt can fall between a reading and the look at it, so only a reading counts that is not
 * older than the end of the interrupt. What has been acknowledged tells that it was this one and
 * not the one that brought the work, which is sent first and so comes first.
 */
TIMED static void read_counter_until_told(void *argument)
{
	const volatile struct gic_stages *stages = argument;

	poll_publish(&receiver.running, 1);
	do {
		uint64_t now;

		cpu_yield();
		now = counter_end();
		if (receiver.back == 0 && *receiver.acknowledged == receiver.expected &&
		    now >= stages->ended) {
			receiver.returned = now;
			poll_publish(&receiver.back, 1);
		}
	} while (poll_read(&receiver.stop) == 0);
}

TIMED static bool start(uint32_t cpu, const volatile uint64_t *acknowledged, uint64_t expected)
{
	receiver.acknowledged = acknowledged;
	receiver.expected = expected;
	receiver.running = 0;
	receiver.back = 0;
	receiver.stop = 0;
	if (!smp_post(cpu, read_counter_until_told, &gic_stages[cpu]) ||
	    !poll_until(&receiver.running, 1)) {
		return false;
	}
	gic_set_staged(true);
	return true;
}

TIMED static bool stop(uint32_t cpu)
{
	poll_publish(&receiver.stop, 1);
	gic_set_staged(false);
	return smp_wait(cpu, STOP_TIMEOUT_MS);
}

static uint32_t row_count(uint32_t online)
{
	(void)online;
	return ROWS;
}

UNTIMED static bool prepare(struct benchmark_run *run)
{
	static const char *const metrics[ROWS] = {
		"send", "entry", "acknowledge", "handler", "end-of-interrupt", "return", "total"};
	int32_t peer;

	if (!ipi_available(run, TARGET + 1)) {
		return false;
	}
	peer = (int32_t)smp_online_cpu(TARGET);
	for (uint32_t i = 0; i < ROWS; i++) {
		bool of_sender = i == SEND || i == ENTRY || i == TOTAL;
		bool of_both = i == ENTRY || i == TOTAL;

		run->rows[i] = benchmark_row(run, metrics[i], of_sender ? 0 : peer,
					     of_both ? peer : SAMPLE_NO_CPU, NULL);
		if (run->rows[i] == NULL) {
			return false;
		}
	}
	return true;
}

TIMED static void record(struct benchmark_run *run, uint32_t row, uint64_t from, uint64_t to)
{
	sample_record(run->rows[row], (int64_t)(to - from));
}

TIMED static bool sample(struct benchmark_run *run)
{
	uint32_t cpu = smp_online_cpu(TARGET);
	const struct gic_stages *stages = &gic_stages[cpu];
	const volatile uint64_t *acknowledged = ipi_acknowledgements(cpu);
	uint64_t expected = *acknowledged + 1;
	uint64_t begin;
	uint64_t sent;
	uint64_t end;
	bool seen;

	if (!ipi_receivers(run, 0, 0, ipi_acknowledge)) {
		return false;
	}
	if (!start(cpu, acknowledged, expected)) {
		(void)stop(cpu);
		return benchmark_fail(run, "core %lu did not start polling", cpu, 0, 0);
	}
	begin = ipi_begin_and_send(gic->send, cpu);
	sent = counter_end();
	seen = poll_until(acknowledged, expected);
	end = counter_end();
	seen = seen && poll_until(&receiver.back, 1);
	if (!stop(cpu)) {
		return benchmark_fail(run, "core %lu did not stop polling", cpu, 0, 0);
	}
	if (!seen) {
		ipi_lost(run, cpu);
		return false;
	}
	record(run, SEND, begin, sent);
	record(run, ENTRY, begin, stages->entry);
	record(run, ACKNOWLEDGE, stages->entry, stages->acknowledged);
	record(run, HANDLER, stages->acknowledged, stages->handled);
	record(run, END_OF_INTERRUPT, stages->handled, stages->ended);
	record(run, RETURN, stages->ended, receiver.returned);
	record(run, TOTAL, begin, end);
	return true;
}

static const struct benchmark ipi_stages = {
	.name = "ipi.stages",
	.summary = "where the time of an interrupt to another core goes",
	.group = IPI_GROUP,
	.control = "ipi.normal",
	.row_count = row_count,
	.prepare = prepare,
	.sample = sample,
	.finish = ipi_finish,
};

BENCHMARK(ipi_stages);

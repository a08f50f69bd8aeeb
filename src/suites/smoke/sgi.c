/*
 * smoke.sgi: for every ordered pair of cores, a core with itself too, each SGI sent is delivered
 * exactly once, and to nobody else.
 */
#include <stddef.h>

#include "el1bench/benchmark.h"
#include "el1bench/cpu.h"
#include "el1bench/gic.h"
#include "el1bench/poll.h"
#include "el1bench/smp.h"

#define SENDS_PER_PAIR 8
#define SENDS_PER_PAIR_MANY 2 /* with more than MANY_CORES the pairs are legion */
#define MANY_CORES 8
#define CALL_TIMEOUT_MS 10000

static struct {
	volatile uint64_t received __attribute__((aligned(64)));
} counts[CPU_MAX];

static struct {
	uint32_t target;
	uint32_t sends;
	volatile uint32_t delivered;
} order;

/* On the receiving core. */
TIMED static void count_interrupt(uint32_t intid, uint32_t source, uint64_t stamp)
{
	uint32_t cpu = cpu_index();

	(void)intid;
	(void)source;
	(void)stamp;
	poll_publish(&counts[cpu].received, counts[cpu].received + 1);
}

/* On the sending core: each send waits for its delivery, so that none can merge. */
TIMED static void send_in_turn(void *unused)
{
	const volatile uint64_t *received = &counts[order.target].received;
	uint64_t expected = poll_read(received);

	(void)unused;
	order.delivered = 0;
	for (uint32_t i = 0; i < order.sends; i++) {
		gic->send(order.target, GIC_SGI_CHECK);
		expected++;
		if (!poll_until(received, expected)) {
			return;
		}
		order.delivered++;
	}
}

TIMED static uint64_t received_by_all(void)
{
	uint64_t sum = 0;

	for (uint32_t cpu = 0; cpu < CPU_MAX; cpu++) {
		sum += counts[cpu].received;
	}
	return sum;
}

static bool prepare(struct benchmark_run *run)
{
	if (gic == NULL) {
		return benchmark_fail(run, "the device tree has no usable interrupt controller", 0,
				      0, 0);
	}
	return true;
}

TIMED static bool sample(struct benchmark_run *run)
{
	uint32_t online = smp_online_count();
	uint64_t expected = received_by_all(); /* a late double of one pair shows in the next */

	gic_set_handler(GIC_SGI_CHECK, count_interrupt);
	order.sends = online > MANY_CORES ? SENDS_PER_PAIR_MANY : SENDS_PER_PAIR;
	for (uint32_t from = 0; from < online; from++) {
		for (uint32_t to = 0; to < online; to++) {
			uint32_t source = smp_online_cpu(from);

			order.target = smp_online_cpu(to);
			if (!smp_call(source, send_in_turn, NULL, CALL_TIMEOUT_MS)) {
				return benchmark_fail(run,
						      "core %lu did not finish sending to core %lu",
						      source, order.target, 0);
			}
			if (order.delivered != order.sends) {
				return benchmark_fail(run,
						      "SGI %lu from core %lu to core %lu was lost",
						      order.delivered, source, order.target);
			}
			expected += order.sends;
			if (received_by_all() != expected) {
				return benchmark_fail(
					run, "core %lu sent to core %lu: %lu too many delivered",
					source, order.target, received_by_all() - expected);
			}
		}
	}
	return true;
}

TIMED static void finish(struct benchmark_run *run)
{
	(void)run;
	gic_set_handler(GIC_SGI_CHECK, NULL);
}

static const struct benchmark smoke_sgi = {
	.name = "smoke.sgi",
	.summary = "each SGI between any two cores is delivered exactly once",
	.prepare = prepare,
	.sample = sample,
	.finish = finish,
};

BENCHMARK(smoke_sgi);

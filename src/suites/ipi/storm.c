/*
 * ipi.storm: all other cores send to core 0 at once, STORM_SENDS SGIs each, back to back.
 *
 * Metric `total`: core 0 before the signal to start -> core 0's handler has seen all of them.
 *
 * An SGI that finds its like pending becomes one with it: on GICv3 from any core, on GICv2 from the
 * same core. Such a one is merged, not lost: each sender counts its sends where the handler reads
 * them, so that one interrupt answers for all that were sent before it. Lost is a send that no
 * interrupt answers for within the time-out; that fails.
 */
#include <stddef.h>

#include "el1bench/counter.h"
#include "el1bench/cpu.h"
#include "el1bench/poll.h"
#include "el1bench/smp.h"
#include "ipi.h"
#include "sweep.h"

#define STORM_SENDS 4
#define STORM_END_MS 1000

static bool visit(struct benchmark_run *run, uint32_t place, uint32_t count);

struct storm_sender {
	volatile uint64_t sent __attribute__((aligned(64))); /* ever; the sender writes */
	volatile uint64_t ready;                             /* the round it is ready for */
};

static struct {
	struct sweep sweep;
	uint64_t round;
	uint64_t sent; /* in whole rounds */
} storm = {.sweep = {.places = 1, .visit = visit}};

static struct storm_sender senders[CPU_MAX];

/* The round that has begun. */
static struct {
	volatile uint64_t round __attribute__((aligned(64)));
} go;

/* Core 0's handler. */
static struct {
	volatile uint64_t taken __attribute__((aligned(64))); /* interrupts, ever */
	volatile uint64_t answered;                           /* sends, ever */
} handler;

/* On core 0: answers for everything that has been sent. */
TIMED static void answer_all(uint32_t intid, uint32_t source, uint64_t stamp)
{
	uint32_t online = smp_online_count();
	uint64_t sum = 0;

	(void)intid;
	(void)source;
	(void)stamp;
	for (uint32_t position = 1; position < online; position++) {
		sum += poll_read(&senders[smp_online_cpu(position)].sent);
	}
	handler.taken = handler.taken + 1;
	poll_publish(&handler.answered, sum);
}

TIMED static void send_many(void *argument)
{
	struct storm_sender *sender = argument;
	uint64_t round = storm.round;

	poll_publish(&sender->ready, round);
	if (!poll_until(&go.round, round)) {
		return;
	}
	for (uint32_t i = 0; i < STORM_SENDS; i++) {
		poll_publish(&sender->sent, sender->sent + 1);
		gic->send(0, GIC_SGI_BENCH);
	}
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

/* All senders wait for the signal. */
TIMED static bool get_ready(void)
{
	storm.round++;
	for (uint32_t position = 1; position < smp_online_count(); position++) {
		uint32_t cpu = smp_online_cpu(position);

		if (!smp_post(cpu, send_many, &senders[cpu]) ||
		    !poll_until(&senders[cpu].ready, storm.round)) {
			return false;
		}
	}
	return true;
}

/* All senders are idle, and no interrupt is on its way any more. */
TIMED static bool settle(void)
{
	struct deadline deadline = deadline_in_ms(STORM_END_MS);

	for (uint32_t position = 1; position < smp_online_count(); position++) {
		if (!smp_wait(smp_online_cpu(position), STORM_END_MS)) {
			return false;
		}
	}
	while (gic->pending(GIC_SGI_BENCH)) {
		if (deadline_passed(&deadline)) {
			return false;
		}
	}
	return true;
}

TIMED static bool take_sample(struct benchmark_run *run)
{
	uint64_t expected = storm.sent + (uint64_t)(smp_online_count() - 1) * STORM_SENDS;
	uint64_t begin;
	uint64_t end;
	bool all;

	if (!get_ready()) {
		return benchmark_fail(run, "a core did not get ready to send", 0, 0, 0);
	}
	benchmark_spin(benchmark_draw_gap(run));
	begin = counter_begin();
	poll_publish(&go.round, storm.round);
	all = poll_until(&handler.answered, expected);
	end = counter_end();
	if (!settle()) {
		return benchmark_fail(run, "the cores did not end sending", 0, 0, 0);
	}
	if (!all) {
		sample_exclude(run->rows[0], SAMPLE_LOST);
		return benchmark_fail(run, "%lu of %lu sends were not answered by any interrupt",
				      expected - handler.answered, expected - storm.sent, 0);
	}
	storm.sent = expected;
	sample_record(run->rows[0], (int64_t)(end - begin));
	return true;
}

TIMED static bool visit(struct benchmark_run *run, uint32_t place, uint32_t count)
{
	(void)place;
	gic_set_handler(GIC_SGI_BENCH, answer_all);
	for (uint32_t i = 0; i < count; i++) {
		if (!take_sample(run)) {
			return false;
		}
	}
	return true;
}

TIMED static bool sample(struct benchmark_run *run)
{
	return sweep_sample(run, &storm.sweep);
}

TIMED static void finish(struct benchmark_run *run)
{
	gic_set_handler(GIC_SGI_BENCH, NULL);
	if (run->state != BENCHMARK_RUNNING) {
		return; /* failed: sends were lost */
	}
	benchmark_note(run, "%lu sent, %lu taken, %lu merged with one that was pending, none lost",
		       storm.sent, handler.taken, storm.sent - handler.taken);
	sweep_note(run, &storm.sweep, 1);
}

static uint64_t bound_ms(const struct benchmark_run *run)
{
	return sweep_bound_ms(run, &storm.sweep);
}

static const struct benchmark ipi_storm = {
	.name = "ipi.storm",
	.summary = "all other cores send to core 0 at once",
	.row_count = row_count,
	.bound_ms = bound_ms,
	.prepare = prepare,
	.sample = sample,
	.finish = finish,
};

BENCHMARK(ipi_storm);

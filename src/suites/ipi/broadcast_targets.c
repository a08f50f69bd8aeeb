/*
 * ipi.broadcast-targets: one SGI from core 0 to the next n online cores, which poll with `yield`,
 * for every n from 1 to all of them (factor `targets`). Always by target lists, so that all n are
 * alike; ipi.broadcast shows what the controller has for all others at once.
 *
 * Metrics `first` and `last`: core 0 before the send -> the earliest and the latest receiver's
 * vector stub.
 * Metric `total`: core 0 before the send -> core 0 has seen all acknowledgements.
 * Metric `send`: core 0 before the send -> core 0 after it; in rounds of its own, as its second
 * stamp would lengthen the others.
 */
#include <stddef.h>
#include <stdio.h>

#include "el1bench/counter.h"
#include "el1bench/poll.h"
#include "el1bench/smp.h"
#include "ipi.h"
#include "sweep.h"

#define TEXT_BYTES 20 /* "targets=" and any number */

enum { FIRST, LAST, TOTAL, SEND, TARGET_ROWS };

static bool visit(struct benchmark_run *run, uint32_t place, uint32_t count);

static struct {
	struct sweep sweep;
	char texts[CPU_MAX][TEXT_BYTES];
	struct gic_list list;
	/* Looked up before the clock starts. */
	struct {
		const struct ipi_slot *slot;
		uint64_t expected;
	} waits[CPU_MAX];
} targets = {.sweep = {.visit = visit}};

static uint32_t row_count(uint32_t online)
{
	return (online - 1) * TARGET_ROWS;
}

UNTIMED static bool prepare(struct benchmark_run *run)
{
	static const char *const metrics[TARGET_ROWS] = {"first", "last", "total", "send"};

	if (!ipi_available(run, 2)) {
		return false;
	}
	targets.sweep.places = smp_online_count() - 1;
	for (uint32_t place = 0; place < targets.sweep.places; place++) {
		(void)snprintf(targets.texts[place], TEXT_BYTES, "targets=%u",
			       (unsigned int)(place + 1));
		for (uint32_t i = 0; i < TARGET_ROWS; i++) {
			struct sample_row *row = benchmark_row(run, metrics[i], 0, SAMPLE_NO_CPU,
							       targets.texts[place]);

			if (row == NULL) {
				return false;
			}
			if (run->rows[0] == NULL) {
				run->rows[0] = row; /* the others follow */
			}
		}
	}
	return true;
}

TIMED static bool lost(struct benchmark_run *run, uint32_t position)
{
	return benchmark_fail(run, "core %lu did not acknowledge, one of the first %lu",
			      smp_online_cpu(position), targets.sweep.places, 0);
}

TIMED static void look_up(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct ipi_slot *slot = ipi_slot(smp_online_cpu(1 + i));

		targets.waits[i].slot = slot;
		targets.waits[i].expected = slot->acknowledged + 1;
	}
}

/* Which target has not acknowledged in time, as its online position; 0 if all have. */
TIMED_INLINE uint32_t await_all(uint32_t count)
{
	/* After one hint most answers are there: one for each would weigh more than the answer. */
	cpu_yield();
	for (uint32_t i = 0; i < count; i++) {
		const volatile uint64_t *word = &targets.waits[i].slot->acknowledged;
		uint64_t expected = targets.waits[i].expected;

		if (poll_read(word) != expected && !poll_until(word, expected)) {
			return 1 + i;
		}
	}
	return 0;
}

TIMED static bool full_round(struct benchmark_run *run, struct sample_row *rows, uint32_t count)
{
	void (*send_list)(const struct gic_list *list) = gic->send_list;
	uint64_t first = UINT64_MAX;
	uint64_t last = 0;
	uint64_t begin;
	uint64_t end;
	uint32_t missing;

	look_up(count);
	benchmark_spin(benchmark_draw_gap(run));
	begin = counter_begin();
	send_list(&targets.list);
	missing = await_all(count);
	end = counter_end();
	if (missing != 0) {
		return lost(run, missing);
	}
	for (uint32_t i = 0; i < count; i++) {
		uint64_t stamp = targets.waits[i].slot->stamp;

		first = stamp < first ? stamp : first;
		last = stamp > last ? stamp : last;
	}
	sample_record(&rows[FIRST], (int64_t)(first - begin));
	sample_record(&rows[LAST], (int64_t)(last - begin));
	sample_record(&rows[TOTAL], (int64_t)(end - begin));
	return true;
}

TIMED static bool send_round(struct benchmark_run *run, struct sample_row *rows, uint32_t count)
{
	void (*send_list)(const struct gic_list *list) = gic->send_list;
	uint64_t begin;
	uint64_t end;
	uint32_t missing;

	look_up(count);
	benchmark_spin(benchmark_draw_gap(run));
	begin = counter_begin();
	send_list(&targets.list);
	end = counter_end();
	missing = await_all(count);
	if (missing != 0) {
		return lost(run, missing);
	}
	sample_record(&rows[SEND], (int64_t)(end - begin));
	return true;
}

TIMED static bool visit(struct benchmark_run *run, uint32_t place, uint32_t count)
{
	struct sample_row *rows = run->rows[0] + (size_t)place * TARGET_ROWS;
	uint32_t cores = place + 1;

	if (!ipi_receivers(run, 1, cores, ipi_acknowledge)) {
		return false;
	}
	targets.list.count = 0;
	for (uint32_t i = 0; i < cores; i++) {
		gic->add_to_list(&targets.list, smp_online_cpu(1 + i), GIC_SGI_BENCH);
	}
	for (uint32_t i = 0; i < count; i++) {
		if (!full_round(run, rows, cores) || !send_round(run, rows, cores)) {
			return false;
		}
	}
	return true;
}

TIMED static bool sample(struct benchmark_run *run)
{
	return sweep_sample(run, &targets.sweep);
}

TIMED static void finish(struct benchmark_run *run)
{
	ipi_finish(run);
	sweep_note(run, &targets.sweep, targets.sweep.places * TARGET_ROWS);
}

static uint64_t bound_ms(const struct benchmark_run *run)
{
	return sweep_bound_ms(run, &targets.sweep);
}

static const struct benchmark ipi_broadcast_targets = {
	.name = "ipi.broadcast-targets",
	.summary = "an interrupt from core 0 to 1, 2, ... other cores",
	.row_count = row_count,
	.bound_ms = bound_ms,
	.prepare = prepare,
	.sample = sample,
	.finish = finish,
};

BENCHMARK(ipi_broadcast_targets);

/*
 * ipi.normal.total, ipi.self.total, ipi.dry-run.total: the short IPI operations in batches, for
 * counters that are coarser than one of them: many round trips between two stamps.
 *
 * Metric `batched`: core 0 before the first send of a batch -> core 0 has seen the acknowledgement
 * of the last one, divided by the number of round trips.
 *
 * Metric `cycles`: the same in cycles of core 0, if it has a usable cycle counter; the two reads of
 * it stand right outside of the two stamps.
 *
 * A round trip of a batch is followed by the next one at once: there is no gap, and what it adds to
 * a plain round trip is the loop around it; what it lacks is its own pair of stamps.
 */
#include <stddef.h>

#include "el1bench/counter.h"
#include "el1bench/cycles.h"
#include "el1bench/poll.h"
#include "el1bench/smp.h"
#include "ipi.h"

#define PILOT_STEPS 16 /* a pilot that spans so many counter steps tells the length of a batch */

enum { TICKS, CYCLES };

struct lengths {
	int64_t ticks;
	int64_t cycles; /* only if there is a row for them */
};

static int64_t pilot_ticks;

struct batch {
	ipi_send send;
	uint32_t cpu;
	uint32_t arrivals; /* of one round trip: 1, or 0 if nothing is sent */
};

TIMED static void send_nothing(uint32_t cpu, uint32_t intid)
{
	(void)cpu;
	(void)intid;
}

/* `count` round trips, at least one. False after benchmark_fail. */
TIMED static bool round_trips(struct benchmark_run *run, const struct batch *batch, uint32_t count,
			      struct lengths *lengths)
{
	const volatile uint64_t *acknowledged = ipi_acknowledgements(batch->cpu);
	uint64_t expected = *acknowledged;
	uint64_t arrivals = batch->arrivals;
	uint32_t cpu = batch->cpu;
	ipi_send send = batch->send;
	uint64_t begin;
	uint64_t end;

	/* In memory: the loop needs all the registers that calls leave alone. */
	if (run->rows[CYCLES] != NULL) {
		cycles_enable();
		lengths->cycles = -(int64_t)cycles_read();
	}
	begin = counter_begin();
	do {
		expected += arrivals;
		send(cpu, GIC_SGI_BENCH);
		if (!poll_until(acknowledged, expected)) {
			sample_exclude(run->rows[TICKS], SAMPLE_LOST);
			if (run->rows[CYCLES] != NULL) {
				sample_exclude(run->rows[CYCLES], SAMPLE_LOST);
			}
			(void)benchmark_fail(run, "core %lu did not acknowledge sample %lu", cpu,
					     run->index, 0);
			return false;
		}
	} while (--count != 0);
	end = counter_end();
	if (run->rows[CYCLES] != NULL) {
		lengths->cycles += (int64_t)cycles_read();
	}
	lengths->ticks = (int64_t)(end - begin);
	return true;
}

/* Chooses how many round trips make a batch. */
TIMED static bool pilot(struct benchmark_run *run, const struct batch *batch)
{
	struct lengths lengths;
	uint32_t count = 1;

	for (;;) {
		/* Twice: the first one fills caches. NOLINTNEXTLINE(misc-redundant-expression) */
		if (!round_trips(run, batch, count, &lengths) ||
		    !round_trips(run, batch, count, &lengths)) {
			return false;
		}
		if (lengths.ticks >= pilot_ticks || count >= BENCHMARK_BATCH_MAX) {
			break;
		}
		count *= 2;
	}
	run->rows[TICKS]->operations = benchmark_batch((uint64_t)lengths.ticks, count);
	if (run->rows[CYCLES] != NULL) {
		run->rows[CYCLES]->operations = run->rows[TICKS]->operations;
	}
	return true;
}

static uint32_t row_count(uint32_t online)
{
	(void)online;
	return 2;
}

UNTIMED static bool prepare(struct benchmark_run *run, uint32_t position, bool sends)
{
	int32_t peer = SAMPLE_NO_CPU;

	if (!ipi_available(run, position + 1)) {
		return false;
	}
	if (sends) {
		peer = (int32_t)smp_online_cpu(position);
	}
	pilot_ticks = (int64_t)PILOT_STEPS * engine_counter_step();
	run->rows[TICKS] = benchmark_row(run, "batched", 0, peer, NULL);
	if (run->rows[TICKS] != NULL && cycles_usable()) {
		run->rows[CYCLES] = benchmark_row(run, "cycles", 0, peer, NULL);
		if (run->rows[CYCLES] == NULL) {
			return false;
		}
		run->rows[CYCLES]->unit = SAMPLE_UNIT_CYCLE;
	}
	return run->rows[TICKS] != NULL;
}

/* One batch, to the core at online position `position`; the first one ever after a pilot. */
TIMED static bool sample(struct benchmark_run *run, uint32_t position, bool sends)
{
	const struct batch batch = {
		.send = sends ? gic->send : send_nothing,
		.cpu = smp_online_cpu(position),
		.arrivals = sends ? 1 : 0,
	};
	struct sample_row *row = run->rows[TICKS];
	struct lengths lengths;

	if (!ipi_receivers(run, position, 1, ipi_acknowledge)) {
		return false;
	}
	if (row->count + row->warmup_count == 0 && !pilot(run, &batch)) {
		return false;
	}
	if (!round_trips(run, &batch, row->operations, &lengths)) {
		return false;
	}
	sample_record(row, lengths.ticks);
	if (run->rows[CYCLES] != NULL) {
		sample_record(run->rows[CYCLES], lengths.cycles);
	}
	return true;
}

static bool prepare_normal(struct benchmark_run *run)
{
	return prepare(run, 1, true);
}

TIMED static bool sample_normal(struct benchmark_run *run)
{
	return sample(run, 1, true);
}

static bool prepare_self(struct benchmark_run *run)
{
	return prepare(run, 0, true);
}

TIMED static bool sample_self(struct benchmark_run *run)
{
	return sample(run, 0, true);
}

static bool prepare_dry_run(struct benchmark_run *run)
{
	return prepare(run, 0, false);
}

TIMED static bool sample_dry_run(struct benchmark_run *run)
{
	return sample(run, 0, false);
}

static const struct benchmark ipi_normal_total = {
	.name = "ipi.normal.total",
	.summary = "an interrupt from core 0 to another core, in batches",
	.group = IPI_BATCHED_GROUP,
	.batched = true,
	.row_count = row_count,
	.prepare = prepare_normal,
	.sample = sample_normal,
	.finish = ipi_finish,
};

static const struct benchmark ipi_self_total = {
	.name = "ipi.self.total",
	.summary = "an interrupt of core 0 to itself, in batches",
	.group = IPI_BATCHED_GROUP,
	.batched = true,
	.row_count = row_count,
	.prepare = prepare_self,
	.sample = sample_self,
	.finish = ipi_finish,
};

static const struct benchmark ipi_dry_run_total = {
	.name = "ipi.dry-run.total",
	.summary = "everything but the send, in batches",
	.group = IPI_BATCHED_GROUP,
	.batched = true,
	.row_count = row_count,
	.prepare = prepare_dry_run,
	.sample = sample_dry_run,
	.finish = ipi_finish,
};

BENCHMARK(ipi_normal_total);
BENCHMARK(ipi_self_total);
BENCHMARK(ipi_dry_run_total);

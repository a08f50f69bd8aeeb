/*
 * The base lines that do without an interrupt: a question and an answer between every two cores.
 * ipi.line: a cache line written and another one in answer, both sides polling with `yield`; what
 * an interrupt costs beyond that is what it adds. ipi.event: the same with SEV, both sides waiting
 * in WFE with their event streams on; an emulator whose WFE returns at once shows polling here.
 *
 * Metric `round-trip`: one core, before it writes -> it has seen the other core's answer; a row for
 * each two cores, the lower index first.
 */
#include <stddef.h>

#include "el1bench/arguments.h"
#include "el1bench/smp.h"
#include "pair.h"
#include "sweep.h"

/* True if the pair is asked for, in either direction. */
static bool is_selected(uint32_t one, uint32_t other)
{
	const struct pair_list *pairs = &benchmark_arguments()->pairs;

	return pairs_select(pairs, one, other) || pairs_select(pairs, other, one);
}

static uint32_t row_count(uint32_t online)
{
	return online * (online - 1) / 2;
}

static uint64_t bound_ms(const struct benchmark_run *run)
{
	return sweep_bound_ms(run, run->benchmark->data);
}

UNTIMED static bool prepare(struct benchmark_run *run)
{
	struct sweep *sweep = run->benchmark->data;

	if (!pair_prepare(run)) {
		return false;
	}
	for (uint32_t i = 0; i < smp_online_count(); i++) {
		for (uint32_t k = i + 1; k < smp_online_count(); k++) {
			uint32_t one = smp_online_cpu(i);
			uint32_t other = smp_online_cpu(k);
			struct sample_row *row;

			if (!is_selected(one, other)) {
				continue;
			}
			row = benchmark_row(run, "round-trip", (int32_t)one, (int32_t)other, NULL);
			if (row == NULL) {
				return false;
			}
			if (run->rows[0] == NULL) {
				run->rows[0] = row; /* the others follow */
			}
			sweep->places++;
		}
	}
	if (sweep->places == 0) {
		return benchmark_skip(run, "pair= names no two cores that are online", 0, 0, 0);
	}
	return true;
}

TIMED static bool sample(struct benchmark_run *run)
{
	return sweep_sample(run, run->benchmark->data);
}

TIMED static void finish(struct benchmark_run *run)
{
	const struct sweep *sweep = run->benchmark->data;

	sweep_note(run, sweep, sweep->places);
}

TIMED static bool visit(struct benchmark_run *run, uint32_t place, uint32_t count)
{
	struct sample_row *row = run->rows[0] + place;
	struct pair pair = {.kind = (enum pair_kind)run->benchmark->variant};
	const struct pair_round *rounds;

	pair.sender = (uint32_t)row->cpu;
	pair.receiver = (uint32_t)row->peer;
	rounds = pair_visit(run, &pair, count);
	if (rounds == NULL) {
		return false;
	}
	for (uint32_t i = 0; i < count; i++) {
		sample_record(row, (int64_t)(rounds[i].end - rounds[i].begin));
	}
	return true;
}

#define ROUND_TRIP_BENCHMARK(identifier, text, what, kind)                                         \
	static struct sweep identifier##_sweep = {.visit = visit};                                 \
	static const struct benchmark identifier = {                                               \
		.name = text,                                                                      \
		.summary = what,                                                                   \
		.variant = kind,                                                                   \
		.data = &identifier##_sweep,                                                       \
		.row_count = row_count,                                                            \
		.bound_ms = bound_ms,                                                              \
		.prepare = prepare,                                                                \
		.sample = sample,                                                                  \
		.finish = finish,                                                                  \
	};                                                                                         \
	BENCHMARK(identifier)

ROUND_TRIP_BENCHMARK(ipi_line, "ipi.line",
		     "a cache line written and another one in answer, both sides polling",
		     PAIR_LINE);
ROUND_TRIP_BENCHMARK(ipi_event, "ipi.event",
		     "a question and an answer with SEV, both sides waiting in WFE", PAIR_EVENT);

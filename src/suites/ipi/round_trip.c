/*
 * What ipi.line and ipi.event share.
 */
#include "round_trip.h"

#include <stddef.h>

#include "el1bench/arguments.h"
#include "el1bench/smp.h"

/* True if the pair is asked for, in either direction. */
static bool is_selected(uint32_t one, uint32_t other)
{
	const struct pair_list *pairs = &benchmark_arguments()->pairs;

	return pairs_select(pairs, one, other) || pairs_select(pairs, other, one);
}

uint32_t round_trip_row_count(uint32_t online)
{
	return online * (online - 1) / 2;
}

uint64_t round_trip_bound_ms(const struct benchmark_run *run)
{
	return sweep_bound_ms(run, run->benchmark->data);
}

bool round_trip_prepare(struct benchmark_run *run)
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

TIMED bool round_trip_sample(struct benchmark_run *run)
{
	return sweep_sample(run, run->benchmark->data);
}

TIMED void round_trip_finish(struct benchmark_run *run)
{
	const struct sweep *sweep = run->benchmark->data;

	sweep_note(run, sweep, sweep->places);
}

TIMED bool round_trip_visit(struct benchmark_run *run, uint32_t place, uint32_t count)
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

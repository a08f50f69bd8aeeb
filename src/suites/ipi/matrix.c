/*
 * ipi.matrix: an SGI from every core to every other one, under every combination of the factors
 * that were asked for; plainly, the receiver polls with `yield`.
 *
 * Metric `delivery`: the sender, before the send -> the receiver's vector stub.
 * Metric `total`: the sender, before the send -> the sender has seen the acknowledgement.
 */
#include <stddef.h>

#include "el1bench/arguments.h"
#include "el1bench/smp.h"
#include "ipi.h"
#include "pair.h"
#include "sweep.h"

enum { DELIVERY, TOTAL, PAIR_ROWS };

static bool visit(struct benchmark_run *run, uint32_t place, uint32_t count);

static struct {
	struct sweep sweep;
	uint32_t pairs;
	uint32_t combinations; /* that can be measured here */
	struct factor_set factors[FACTOR_COMBINATIONS_MAX];
	char texts[FACTOR_COMBINATIONS_MAX][FACTOR_TEXT_BYTES];
	const char *left_out; /* why another combination cannot, or NULL */
} matrix = {.sweep = {.visit = visit}};

UNTIMED static uint32_t count_pairs(void)
{
	uint32_t count = 0;

	for (uint32_t from = 0; from < smp_online_count(); from++) {
		for (uint32_t to = 0; to < smp_online_count(); to++) {
			count += from != to &&
				 pairs_select(&benchmark_arguments()->pairs, smp_online_cpu(from),
					      smp_online_cpu(to));
		}
	}
	return count;
}

static uint32_t row_count(uint32_t online)
{
	(void)online;
	return count_pairs() * factors_count(&benchmark_arguments()->factors) * PAIR_ROWS;
}

static bool open_pair(struct benchmark_run *run, uint32_t sender, uint32_t receiver,
		      const char *factors)
{
	int32_t cpu = (int32_t)sender;
	int32_t peer = (int32_t)receiver;
	struct sample_row *row = benchmark_row(run, "delivery", cpu, peer, factors);

	if (run->rows[0] == NULL) {
		run->rows[0] = row; /* the others follow */
	}
	return row != NULL && benchmark_row(run, "total", cpu, peer, factors) != NULL;
}

static bool open_combination(struct benchmark_run *run, const char *factors)
{
	for (uint32_t to = 0; to < smp_online_count(); to++) {
		for (uint32_t from = 0; from < smp_online_count(); from++) {
			uint32_t sender = smp_online_cpu(from);
			uint32_t receiver = smp_online_cpu(to);

			if (from != to &&
			    pairs_select(&benchmark_arguments()->pairs, sender, receiver) &&
			    !open_pair(run, sender, receiver, factors)) {
				return false;
			}
		}
	}
	return true;
}

UNTIMED static bool prepare(struct benchmark_run *run)
{
	const struct factor_lists *lists = &benchmark_arguments()->factors;

	if (!pair_prepare(run)) {
		return false;
	}
	matrix.pairs = count_pairs();
	if (matrix.pairs == 0) {
		return benchmark_skip(run, "pair= names no two cores that are online", 0, 0, 0);
	}
	for (uint32_t i = 0; i < factors_count(lists); i++) {
		uint32_t kept = matrix.combinations;
		const char *obstacle;

		matrix.factors[kept] = factors_get(lists, i);
		obstacle = pair_obstacle(&matrix.factors[kept]);
		if (obstacle != NULL) {
			matrix.left_out = obstacle;
			continue;
		}
		if (!open_combination(run, factors_describe(lists, &matrix.factors[kept],
							    matrix.texts[kept]))) {
			return false;
		}
		matrix.combinations++;
	}
	if (matrix.combinations == 0) {
		return benchmark_skip(run, matrix.left_out, 0, 0, 0);
	}
	matrix.sweep.places = matrix.pairs * matrix.combinations;
	return true;
}

TIMED static bool visit(struct benchmark_run *run, uint32_t place, uint32_t count)
{
	struct sample_row *rows = run->rows[0] + (size_t)place * PAIR_ROWS;
	struct pair pair = {.kind = PAIR_INTERRUPT};
	const struct pair_round *rounds;

	pair.sender = (uint32_t)rows->cpu;
	pair.receiver = (uint32_t)rows->peer;
	pair.factors = matrix.factors[place / matrix.pairs];
	rounds = pair_visit(run, &pair, count);
	if (rounds == NULL) {
		sample_exclude(&rows[DELIVERY], SAMPLE_LOST);
		sample_exclude(&rows[TOTAL], SAMPLE_LOST);
		return false;
	}
	for (uint32_t i = 0; i < count; i++) {
		sample_record(&rows[DELIVERY], (int64_t)(rounds[i].stamp - rounds[i].begin));
		sample_record(&rows[TOTAL], (int64_t)(rounds[i].end - rounds[i].begin));
	}
	return true;
}

TIMED static bool sample(struct benchmark_run *run)
{
	return sweep_sample(run, &matrix.sweep);
}

TIMED static void finish(struct benchmark_run *run)
{
	gic_set_handler(GIC_SGI_BENCH, NULL);
	sweep_note(run, &matrix.sweep, matrix.sweep.places * PAIR_ROWS);
	if (matrix.left_out != NULL) {
		benchmark_note(run, matrix.left_out, 0, 0, 0);
	}
	if (pair_lines_verified() > 0 && run->state == BENCHMARK_RUNNING) {
		benchmark_note(run, "%lu lines of payload verified, none differed",
			       pair_lines_verified(), 0, 0);
	}
}

static uint64_t bound_ms(const struct benchmark_run *run)
{
	return sweep_bound_ms(run, &matrix.sweep);
}

static const struct benchmark ipi_matrix = {
	.name = "ipi.matrix",
	.summary = "an interrupt from every core to every other one",
	.row_count = row_count,
	.bound_ms = bound_ms,
	.prepare = prepare,
	.sample = sample,
	.finish = finish,
};

BENCHMARK(ipi_matrix);

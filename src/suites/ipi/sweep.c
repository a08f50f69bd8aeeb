/*
 * Sweeps. The engine asks for one sample of every row at a time; a sweep answers to one call in
 * SWEEP_SAMPLES and takes as many samples then, since going from place to place costs far more than
 * a sample.
 */
#include "sweep.h"

#include "el1bench/arguments.h"
#include "el1bench/counter.h"

#define WARM_UP_SHARE 4 /* of the budget, at most, as a divisor */
#define VISIT_BOUND_MS 2
#define BOUND_EXTRA_MS 1000

TIMED static uint64_t budget_ticks(bool warming_up)
{
	uint64_t ticks = counter_hz() / 1000 * benchmark_arguments()->budget_ms;

	return warming_up ? ticks / WARM_UP_SHARE : ticks;
}

TIMED bool sweep_sample(struct benchmark_run *run, struct sweep *sweep)
{
	bool warming_up = samples_are_warming_up();
	uint32_t wanted = warming_up ? benchmark_arguments()->warmup : run->samples;
	uint32_t count = wanted - run->index;
	uint64_t budget = budget_ticks(warming_up);

	if (!sweep->started) {
		sweep->started = true;
		sweep->begin = counter_begin();
	}
	if (run->index % SWEEP_SAMPLES != 0) {
		return true;
	}
	sweep->over = counter_begin() - sweep->begin >= budget;
	count = count > SWEEP_SAMPLES ? SWEEP_SAMPLES : count;
	for (uint32_t i = 0; i < sweep->places && !sweep->over; i++) {
		uint32_t place = sweep->reversed ? sweep->places - 1 - i : i;

		if (!sweep->visit(run, place, count)) {
			return false;
		}
		sweep->over = counter_begin() - sweep->begin >= budget;
	}
	sweep->reversed = !sweep->reversed;
	return true;
}

TIMED void sweep_note(struct benchmark_run *run, const struct sweep *sweep, uint32_t rows)
{
	uint32_t least = run->samples;

	for (uint32_t i = 0; i < rows; i++) {
		uint32_t count = run->rows[0][i].count;

		least = count < least ? count : least;
	}
	if (sweep->over && least < run->samples) {
		benchmark_note(run,
			       "its budget of %lu ms ended it with %lu of %lu samples a row or "
			       "little more; budget= gives it more time",
			       benchmark_arguments()->budget_ms, least, run->samples);
	}
}

uint64_t sweep_bound_ms(const struct benchmark_run *run, const struct sweep *sweep)
{
	uint64_t budget = benchmark_arguments()->budget_ms;
	uint64_t samples = (uint64_t)run->samples + benchmark_arguments()->warmup;
	uint64_t visits = (samples / SWEEP_SAMPLES + 2) * sweep->places;
	uint64_t bound = visits * VISIT_BOUND_MS;

	return (bound < budget ? bound : budget) + BOUND_EXTRA_MS;
}

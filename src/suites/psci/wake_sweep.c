/*
 * The sweep finds its own window: it is to reach as far beyond the entry as the entry is long.
 *
 * It starts with a wake-up that is due at once. Where that goes all the way in and out, it has
 * taken as long as one can. Where firmware sees it in time and gives up, the way in is longer, and
 * the window widens until some wake-up comes too late for that.
 */
#include "wake_sweep.h"

/* Samples take turns with all of the window, its first half, its first quarter: with the entry. */
#define PARTS 3

#define BEYOND_ENTRY 2
#define BEYOND_GIVING_UP 8
#define NEAR 4 /* a wake-up in the first quarter is taken to come in the entry */

TIMED_BETWEEN uint64_t wake_sweep_draw(struct benchmark_run *run, uint64_t window, uint64_t longest)
{
	uint64_t ticks = window < longest ? window : longest;

	return random_below(run->random, (uint32_t)(ticks >> run->index % PARTS) + 1);
}

TIMED_BETWEEN void wake_sweep_record(uint64_t *window, const struct sleeper *sleeper,
				     struct sample_row *resume, struct sample_row *wake)
{
	const struct suspend_outcome *outcome = &sleeper->outcome;
	uint64_t event = sleeper->due;
	uint64_t arranged = sleeper->due - sleeper->ticks;
	uint64_t reach = outcome->back - arranged;

	if (sleeper->powers_down && !outcome->at_entry) {
		reach *= BEYOND_GIVING_UP;
	} else if (sleeper->ticks <= *window / NEAR) {
		reach *= BEYOND_ENTRY;
	} else {
		reach = 0; /* it says nothing of the entry */
	}
	if (reach > *window) {
		*window = reach;
	}
	if ((int64_t)(event - outcome->begin) < 0) {
		event = outcome->begin;
	}
	sample_record(resume, (int64_t)(outcome->back - outcome->begin));
	sample_record(wake, (int64_t)(outcome->back - event));
}

/*
 * Wake-ups at any moment of the way into a power state: before the call, in the middle of the
 * entry, after it. How late a wake-up can come is seen nowhere else: one that comes right after
 * firmware has last looked for it waits for the whole way in and out.
 */
#pragma once

#include "el1bench/benchmark.h"
#include "sleeper.h"

/*
 * Draws when a core is to wake: in `window` ticks from now at most, and in `longest`. Timed code.
 */
uint64_t wake_sweep_draw(struct benchmark_run *run, uint64_t window, uint64_t longest);

/*
 * Records a way in and out: `resume`, call -> first instruction back, and `wake`, the wake-up or,
 * if that was earlier, the call -> the same instruction. So the difference of a sample is how long
 * after the call its wake-up came. Learns how wide the window has to be; 0 at first. Timed code.
 */
void wake_sweep_record(uint64_t *window, const struct sleeper *sleeper, struct sample_row *resume,
		       struct sample_row *wake);

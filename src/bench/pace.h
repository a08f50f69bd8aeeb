/*
 * The ground that samples are taken on: core 0's stack and interrupts, the counter's real step, and
 * gaps between samples that are spread over that step. Core 0, EL1.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The counter's real step in ticks, at least 1; measured at the first call. Not while timing. */
uint32_t pace_counter_step(void);

/*
 * Gaps are to be drawn from [0, this many spins): that is several whole steps of the counter, so
 * that a sample is as likely to start at any place of a step. At least 2. Not while timing.
 */
uint32_t pace_spin_range(void);

/* Does nothing for so many turns of a loop. Timed code. */
void pace_spin(uint32_t spins);

/*
 * Calls `function` with interrupts unmasked and the stack `stack_offset` bytes (below 4096) further
 * down than it would be; masks interrupts again if they were masked before.
 */
void pace_call(void (*function)(void), uint32_t stack_offset);

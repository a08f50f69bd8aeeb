/*
 * Waiting for a point in time outside of timed parts. Once started, core 0 sleeps in WFI with the
 * EL1 physical timer armed: a core that polls for time burns its host's time under an emulator.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Takes the EL1 physical timer, whose PPI is `intid`, into use. Core 0, once the interrupt
 * controller has started or is known to be missing. Until then, without one, and if no interrupt
 * arrives, waits poll.
 */
void wait_start(uint32_t intid);

/* True once wait_start has been called: until then, what can be put off should be. */
bool wait_ready(void);

/* True if core 0 sleeps while it waits, as far as is known. Core 0. */
bool wait_sleeps(void);

/* Returns once the counter has reached `ticks`, at once if it has. Polls on cores other than 0. */
void wait_until(uint64_t ticks);

/*
 * Sleeps for a short while, up to the start of a tick. What is measured after it does not depend on
 * how long the output before it took: with QEMU's icount, nothing else shows in a coarse counter.
 */
void wait_for_tick(void);

/* Waits for `milliseconds`; returns at once where CNTFRQ is 0. */
void wait_ms(uint32_t milliseconds);

/*
 * What a core does while it waits for the interrupt that is measured: the factor `receiver`. And
 * the event stream, without which no core waits in WFE. Any core, timed code.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "el1bench/barrier.h"
#include "el1bench/factors.h"
#include "el1bench/timed.h"

/*
 * Waits in that state, interrupts on, until `*word` is `expected`; whoever stores that sends the
 * core an SGI afterwards. False if that takes longer than RECEIVER_MS. (Asleep in WFI a core only
 * notices when it is woken; core 0 sleeps with sleep_until() instead.)
 */
#define RECEIVER_MS 10000U
bool receiver_wait(enum factor_receiver state, const volatile uint64_t *word, uint64_t expected);

/* Turns on the calling core's event stream, which ends a WFE at least every 100 us; or off. */
void event_stream(bool on);

/* WFE: until an event, which may have come before. */
TIMED_INLINE void wait_for_event(void)
{
	__asm__ volatile("wfe" : : : "memory");
}

/* Makes stores visible, then sends an event to all cores. */
TIMED_INLINE void send_event(void)
{
	dsb_ishst();
	__asm__ volatile("sev" : : : "memory");
}

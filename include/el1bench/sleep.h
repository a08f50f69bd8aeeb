/*
 * Waiting asleep: WFI until another core says so, so that the waiting core takes nothing from those
 * that are being measured. Core 0, timed code.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Lets the core's timer interrupt through, which bounds the sleep. Once, before timing. */
void sleep_prepare(void);

/*
 * Sleeps until `*word` is `expected`; whoever stores that sends the core an SGI afterwards. The
 * physical timer ends the sleep after `milliseconds` at the latest: false if the word is not there
 * then. Where the device tree names no timer it polls with `yield` instead. Interrupts unmasked
 * before and after.
 */
bool sleep_until(const volatile uint64_t *word, uint64_t expected, uint32_t milliseconds);

/*
 * Polling while timing. The first poll costs a `yield` and a compare, the next POLL_BATCH ones a
 * count besides; none of them reads a counter, so that the wait does not blur what it waits for.
 * Only then does a deadline start. The `yield` stands first because what is waited for has hardly
 * ever happened before the first poll: an emulator that runs cores in turn goes on with the other
 * core at once, and on hardware the hint costs nothing. Any core, timed code.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "el1bench/barrier.h"
#include "el1bench/counter.h"
#include "el1bench/timed.h"

#define POLL_BATCH 4096U
#define POLL_TIMEOUT_MS 500U

/* Reads with acquire semantics: what the writer stored before its release is visible after. */
TIMED_INLINE uint64_t poll_read(const volatile uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

TIMED_INLINE void poll_publish(volatile uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/*
 * Waits until `*word` is `expected`, at most POLL_TIMEOUT_MS after the first batch; false if it
 * never was.
 */
bool poll_until_slow(const volatile uint64_t *word, uint64_t expected);

TIMED_INLINE bool poll_until(const volatile uint64_t *word, uint64_t expected)
{
	cpu_yield();
	if (poll_read(word) == expected) {
		return true;
	}
	for (uint32_t polls = POLL_BATCH; polls != 0; polls--) {
		cpu_yield();
		if (poll_read(word) == expected) {
			return true;
		}
	}
	return poll_until_slow(word, expected);
}

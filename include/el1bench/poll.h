/*
 * Polling while timing. The first POLL_BATCH polls cost a compare, a count and a `yield` each and
 * read no counter, so that the wait does not blur what it waits for; only then does a deadline
 * start. Any core, timed code.
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
	uint32_t polls = POLL_BATCH;

	while (poll_read(word) != expected) {
		if (--polls == 0) {
			return poll_until_slow(word, expected);
		}
		cpu_yield();
	}
	return true;
}

/*
 * Stands in for include/el1bench/counter.h in host tests: the test defines the counter.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Ticks of 1 microsecond. */
uint64_t fake_counter(void);

static inline uint64_t counter_begin(void)
{
	return fake_counter();
}

static inline uint64_t counter_end(void)
{
	return fake_counter();
}

static inline uint64_t counter_end_memory(void)
{
	return fake_counter();
}

static inline uint64_t counter_hz(void)
{
	return 1000000;
}

struct deadline {
	uint64_t end;
	uint32_t polls;
};

#define DEADLINE_POLLS (UINT32_C(1) << 28)

static inline struct deadline deadline_in_ms(uint32_t milliseconds)
{
	return (struct deadline){.end = counter_begin() + UINT64_C(1000) * milliseconds,
				 .polls = DEADLINE_POLLS};
}

#define deadline_in_ms_inline deadline_in_ms

static inline bool deadline_passed(struct deadline *deadline)
{
	if (deadline->polls == 0) {
		return true;
	}
	deadline->polls--;
	return (int64_t)(counter_begin() - deadline->end) >= 0;
}

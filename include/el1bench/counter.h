/*
 * The clock of every measurement: CNTPCT_EL0, in ticks of CNTFRQ_EL0 (D12.1 of the Arm ARM).
 *
 * Ordering argument. A read of CNTPCT_EL0 may be done early, out of program order, since nothing
 * makes it depend on what stands before it. An ISB before the read makes it wait until all earlier
 * instructions have completed their execution; it does not wait for stores or device writes to
 * take effect, so an interval that ends with such an effect uses `counter_end_memory`. The read is
 * volatile and clobbers memory, so the compiler moves nothing across it; what follows the read may
 * start before it, which can only shorten what comes outside of the interval at its begin, and at
 * its end belongs to nobody. On exception entry the ISB is not needed: taking an exception is a
 * context synchronization event.
 *
 * Any core, EL1 (CNTHCTL_EL2.EL1PCTEN set by the boot code) or EL2.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define COUNTER_INLINE static inline __attribute__((always_inline))

/* Returns the counter in ticks, for the start of an interval. */
COUNTER_INLINE uint64_t counter_begin(void)
{
	uint64_t ticks;

	__asm__ volatile("isb\n\tmrs %0, cntpct_el0" : "=r"(ticks) : : "memory");
	return ticks;
}

/* Returns the counter in ticks, for the end of an interval that ends with an instruction. */
COUNTER_INLINE uint64_t counter_end(void)
{
	uint64_t ticks;

	__asm__ volatile("isb\n\tmrs %0, cntpct_el0" : "=r"(ticks) : : "memory");
	return ticks;
}

/* The same for an interval that ends when earlier memory or device accesses have completed. */
COUNTER_INLINE uint64_t counter_end_memory(void)
{
	uint64_t ticks;

	__asm__ volatile("dsb ish\n\tisb\n\tmrs %0, cntpct_el0" : "=r"(ticks) : : "memory");
	return ticks;
}

/* Returns this core's CNTFRQ_EL0 in Hz; 0 if firmware left it unset. */
COUNTER_INLINE uint64_t counter_hz(void)
{
	uint64_t hz;

	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
	return hz & 0xffffffffU;
}

/*
 * A bounded wait. It ends at a counter value and, should the counter stand still, after a number of
 * polls. Use: `struct deadline d = deadline_in_ms(100); while (!done) { if (deadline_passed(&d))
 * return false; cpu_yield(); }`
 */
struct deadline {
	uint64_t end;   /* ticks */
	uint32_t polls; /* polls left */
};

#define DEADLINE_POLLS (UINT32_C(1) << 28)

/* `milliseconds` up to 1,000,000; where CNTFRQ is 0, 1 GHz is assumed. */
struct deadline deadline_in_ms(uint32_t milliseconds);

/* The same where it is part of an interval: faster, and larger. */
COUNTER_INLINE struct deadline deadline_in_ms_inline(uint32_t milliseconds)
{
	uint64_t hz = counter_hz();
	uint64_t per_ms = hz == 0 ? UINT64_C(1000000) : hz / 1000 + 1;

	return (struct deadline){.end = counter_begin() + per_ms * milliseconds,
				 .polls = DEADLINE_POLLS};
}

/* True once the time or the polls are used up. Never sleeps. */
COUNTER_INLINE bool deadline_passed(struct deadline *deadline)
{
	if (deadline->polls == 0) {
		return true;
	}
	deadline->polls--;
	return (int64_t)(counter_begin() - deadline->end) >= 0;
}

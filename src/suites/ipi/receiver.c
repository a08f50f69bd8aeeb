/*
 * The states of a receiver. Each loops in batches and looks at the counter only in between, so that
 * the loop that is interrupted is the plain one.
 */
#include "receiver.h"

#include "el1bench/barrier.h"
#include "el1bench/cpu.h"
#include "el1bench/poll.h"
#include "el1bench/sleep.h"
#include "el1bench/sysreg.h"

#define EVENTS_HZ 10000U
#define CNTKCTL_EVNTEN UINT64_C(4)
#define CNTKCTL_EVNTDIR UINT64_C(8)
#define CNTKCTL_EVNTI(bit) ((uint64_t)(bit) << 4)
#define CNTKCTL_EVNTI_MAX 15
#define BUSY_STEPS 256U /* between two looks at the word */

TIMED void event_stream(bool on)
{
	uint64_t period = counter_hz() / EVENTS_HZ;
	uint64_t control;
	uint32_t bit = 0;

	/* An event each time that bit of the counter goes to 1: every 2^(bit + 1) ticks. */
	while (bit < CNTKCTL_EVNTI_MAX && UINT64_C(4) << bit <= period) {
		bit++;
	}
	/* The rest of the register is others': whether EL0 may read the counters. */
	control = SYSREG_READ(cntkctl_el1) &
		  ~(CNTKCTL_EVNTEN | CNTKCTL_EVNTDIR | CNTKCTL_EVNTI(CNTKCTL_EVNTI_MAX));
	SYSREG_WRITE(cntkctl_el1, on ? control | CNTKCTL_EVNTEN | CNTKCTL_EVNTI(bit) : control);
	isb();
}

TIMED static bool spin(const volatile uint64_t *word, uint64_t expected)
{
	for (uint32_t polls = POLL_BATCH; polls != 0; polls--) {
		if (poll_read(word) == expected) {
			return true;
		}
		cpu_yield();
	}
	return false;
}

TIMED static bool wait_for_events(const volatile uint64_t *word, uint64_t expected)
{
	for (uint32_t polls = POLL_BATCH; polls != 0; polls--) {
		if (poll_read(word) == expected) {
			return true;
		}
		wait_for_event();
	}
	return false;
}

/* Idle as in an operating system: masked, so that no wake-up is lost, and unmasked once awake. */
TIMED static bool sleep_once(const volatile uint64_t *word, uint64_t expected)
{
	bool there;

	irq_mask();
	there = poll_read(word) == expected;
	if (!there) {
		wfi();
	}
	irq_unmask();
	isb();
	return there;
}

TIMED static bool compute(const volatile uint64_t *word, uint64_t expected)
{
	uint64_t value = expected;

	for (uint32_t polls = POLL_BATCH; polls != 0; polls--) {
		for (uint32_t step = 0; step < BUSY_STEPS; step++) {
			value = value * UINT64_C(6364136223846793005) + 1;
			__asm__ volatile("" : "+r"(value));
		}
		if (poll_read(word) == expected) {
			return true;
		}
	}
	return false;
}

TIMED bool receiver_wait(enum factor_receiver state, const volatile uint64_t *word,
			 uint64_t expected)
{
	struct deadline deadline = deadline_in_ms(RECEIVER_MS);
	bool there = false;

	if (state == RECEIVER_WFI && cpu_index() == 0) {
		return sleep_until(word, expected, RECEIVER_MS);
	}
	if (state == RECEIVER_WFE) {
		event_stream(true);
	}
	while (!there && !deadline_passed(&deadline)) {
		switch (state) {
		case RECEIVER_SPIN:
			there = spin(word, expected);
			break;
		case RECEIVER_WFE:
			there = wait_for_events(word, expected);
			break;
		case RECEIVER_WFI:
			there = sleep_once(word, expected);
			break;
		case RECEIVER_BUSY:
			there = compute(word, expected);
			break;
		}
	}
	if (state == RECEIVER_WFE) {
		event_stream(false);
	}
	return there;
}

/*
 * The long half of a poll: once the cheap batch is used up, the counter bounds the wait too.
 */
#include "el1bench/poll.h"

TIMED bool poll_until_slow(const volatile uint64_t *word, uint64_t expected)
{
	struct deadline deadline = deadline_in_ms(POLL_TIMEOUT_MS);

	while (poll_read(word) != expected) {
		if (deadline_passed(&deadline)) {
			return false;
		}
		cpu_yield();
	}
	return true;
}

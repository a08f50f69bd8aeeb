/*
 * The program that is spawned: tells when its first instruction ran, does what its first argument
 * says, and exits.
 */
#include "../program.h"

static uint64_t do_task(const uint64_t *arguments)
{
	uint64_t begin;

	switch (arguments[0]) {
	case TASK_CALL:
		begin = program_counter();
		(void)system_call(SYSTEM_CALL_NOTHING, 0, 0);
		return program_counter() - begin;
	case TASK_RESUME:
		(void)system_call(SYSTEM_CALL_STARTED, 0, 0);
		return program_counter();
	case TASK_READ:
		return *(const volatile uint64_t *)arguments[1];
	case TASK_JUMP:
		((void (*)(void))(uintptr_t)arguments)();
		return 0;
	case TASK_OVERFLOW:
		for (volatile uint8_t *at = (volatile uint8_t *)&begin;; at -= 16) {
			*at = 0;
		}
	case TASK_SPIN:
		for (;;) {
			__asm__ volatile("");
		}
	case TASK_UNKNOWN_CALL:
		return system_call((enum system_call)99, 0, 0);
	default:
		return 0;
	}
}

void program_main(uint64_t count, const uint64_t *arguments, uint64_t stamp)
{
	uint64_t result;

	(void)count;
	(void)system_call(SYSTEM_CALL_STARTED, stamp, 0);
	result = do_task(arguments);
	for (;;) {
		(void)system_call(SYSTEM_CALL_EXIT, result, program_counter());
	}
}

/*
 * The ways out: firmware, semihosting, or standing still.
 */
#include "el1bench/exit.h"

#include <stdint.h>

#include "el1bench/barrier.h"
#include "el1bench/console.h"
#include "el1bench/exception.h"
#include "el1bench/psci.h"
#include "el1bench/watchdog.h"

/* Semihosting for AArch32 and AArch64, release 2.0: operations and the reason for SYS_EXIT. */
#define SYS_WRITE0 0x04
#define SYS_EXIT 0x18
#define ADP_STOPPED_APPLICATION_EXIT 0x20026

static void halt(void) __attribute__((noreturn));
static void halt(void)
{
	irq_mask();
	for (;;) {
		wfi();
	}
}

/* Returns only where semihosting is not there. */
static void semihosting_exit(uint64_t code)
{
	const uint64_t block[2] = {ADP_STOPPED_APPLICATION_EXIT, code};
	uint64_t result;

	(void)exception_probe_semihosting(SYS_EXIT, (uint64_t)(uintptr_t)block, &result);
}

void exit_image(enum on_exit how, enum run_status status)
{
	static const uint64_t codes[] = {
		[RUN_PASSED] = 0,
		[RUN_FAILED] = 1,
		[RUN_REFUSED] = 2,
	};

	console_drain();
	if (how != ON_EXIT_RESET) {
		watchdog_stop(); /* else it is there for firmware that does not reset */
	}
	if (how == ON_EXIT_SEMIHOST) {
		semihosting_exit(codes[status]);
		how = ON_EXIT_OFF;
	}
	if (how == ON_EXIT_OFF) {
		(void)psci_call(PSCI_SYSTEM_OFF, 0, 0, 0);
	}
	if (how == ON_EXIT_RESET) {
		(void)psci_call(PSCI_SYSTEM_RESET, 0, 0, 0);
	}
	halt();
}

void exit_without_console(const char *text)
{
	uint64_t result;

	if (exception_probe_semihosting(SYS_WRITE0, (uint64_t)(uintptr_t)text, &result) &&
	    exception_probe_semihosting(SYS_WRITE0, (uint64_t)(uintptr_t) "\n", &result)) {
		semihosting_exit(1);
	}
	halt();
}

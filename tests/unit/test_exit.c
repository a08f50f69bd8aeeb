/* sources: src/runtime/exit.c */
/*
 * The ways out: what is done, and in which order, before power goes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "el1bench/barrier.h"
#include "el1bench/console.h"
#include "el1bench/exception.h"
#include "el1bench/exit.h"
#include "el1bench/psci.h"
#include "el1bench/watchdog.h"

static char done[128];
static bool has_semihosting;
static jmp_buf stands_still;

static void note(const char *what)
{
	strncat(done, what, sizeof(done) - strlen(done) - 1);
}

void console_drain(void)
{
	note("drain ");
}

void watchdog_stop(void)
{
	note("stop ");
}

int64_t psci_call(uint32_t function_id, uint64_t x1, uint64_t x2, uint64_t x3)
{
	(void)x1;
	(void)x2;
	(void)x3;
	note(function_id == PSCI_SYSTEM_OFF     ? "off "
	     : function_id == PSCI_SYSTEM_RESET ? "reset "
						: "? ");
	return PSCI_NOT_SUPPORTED;
}

bool exception_probe_semihosting(uint64_t operation, uint64_t block, uint64_t *result)
{
	(void)operation;
	(void)block;
	(void)result;
	note("semihosting ");
	return has_semihosting;
}

/* In WFI the image would stand still for good. */
void fake_barrier(const char *name)
{
	if (strcmp(name, "wfi") == 0) {
		note("halt");
		longjmp(stands_still, 1);
	}
}

static const char *leave(enum on_exit how)
{
	done[0] = '\0';
	if (setjmp(stands_still) == 0) {
		exit_image(how, RUN_PASSED);
	}
	return done;
}

/* Firmware that does not do as told: the image stands still then. */
static void everything_is_sent_before_power_goes(void **state)
{
	(void)state;
	assert_string_equal(leave(ON_EXIT_OFF), "drain stop off halt");
	assert_string_equal(leave(ON_EXIT_HALT), "drain stop halt");
	assert_string_equal(leave(ON_EXIT_SEMIHOST), "drain stop semihosting off halt");
}

static void the_watchdog_stays_for_a_reset_that_does_not_come(void **state)
{
	(void)state;
	assert_string_equal(leave(ON_EXIT_RESET), "drain reset halt");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_is_sent_before_power_goes),
		cmocka_unit_test(the_watchdog_stays_for_a_reset_that_does_not_come),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* sources: src/bench/report_timing.c */
/*
 * What lies around the timed part, with a fake console: everything is out before the lock, nothing
 * gets out under it, and what was tried is counted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "el1bench/console.h"
#include "el1bench/report.h"

static bool locked;
static bool drained;
static uint64_t written;
static uint64_t refused;

void console_write(const char *text, size_t bytes)
{
	(void)text;
	if (locked) {
		refused += bytes;
	} else {
		written += bytes;
	}
}

void console_lock(void)
{
	assert_true(drained);
	locked = true;
}

void console_unlock(void)
{
	locked = false;
}

void console_drain(void)
{
	drained = true;
}

uint64_t console_bytes_written(void)
{
	return written;
}

uint64_t console_refused_bytes(void)
{
	return refused;
}

static int set_up(void **state)
{
	(void)state;
	locked = false;
	drained = false;
	written = 0;
	refused = 0;
	return 0;
}

static void a_quiet_run(void **state)
{
	struct engine_checks checks = {.uart_bytes_in_timed = 99, .console_refused_bytes = 99};

	(void)state;
	console_write("plan", 4);
	report_timing_hooks.timing_starts();
	assert_true(locked);
	assert_int_equal(written, 4);
	report_timing_hooks.timing_ends(&checks);
	assert_false(locked);
	assert_int_equal(checks.uart_bytes_in_timed, 0);
	assert_int_equal(checks.console_refused_bytes, 0);
}

static void a_print_while_timing(void **state)
{
	struct engine_checks checks = {0};

	(void)state;
	report_timing_hooks.timing_starts();
	console_write("stray", 5);
	report_timing_hooks.timing_ends(&checks);
	assert_int_equal(written, 0);
	assert_int_equal(checks.uart_bytes_in_timed, 0);
	assert_int_equal(checks.console_refused_bytes, 5);
}

static void bytes_past_the_lock(void **state)
{
	struct engine_checks checks = {0};

	(void)state;
	report_timing_hooks.timing_starts();
	locked = false; /* somebody forced it */
	console_write("ouch", 4);
	report_timing_hooks.timing_ends(&checks);
	assert_int_equal(checks.uart_bytes_in_timed, 4);
}

#define TIMING(test) cmocka_unit_test_setup(test, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TIMING(a_quiet_run),
		TIMING(a_print_while_timing),
		TIMING(bytes_past_the_lock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

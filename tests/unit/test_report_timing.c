/* sources: src/bench/report_timing.c */
/*
 * What lies around the timed part, with a fake console: everything is out before the lock, nothing
 * gets out under it, and text that the C library still holds is counted as refused.
 */
#define _GNU_SOURCE /* fopencookie */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "el1bench/console.h"
#include "el1bench/report.h"

static bool locked;
static bool drained;
static uint64_t written;
static uint64_t refused;

/* Where stdout ends, as newlib's does in console_write. */
static ssize_t sink(void *cookie, const char *text, size_t bytes)
{
	(void)cookie;
	(void)text;
	if (locked) {
		refused += bytes;
	} else {
		written += bytes;
	}
	return (ssize_t)bytes;
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

static FILE *console;

static int set_up(void **state)
{
	(void)state;
	locked = false;
	drained = false;
	written = 0;
	refused = 0;
	console = stdout;
	stdout = fopencookie(NULL, "w", (cookie_io_functions_t){.write = sink});
	return stdout == NULL;
}

static int tear_down(void **state)
{
	(void)state;
	(void)fclose(stdout);
	stdout = console;
	return 0;
}

static void a_quiet_run(void **state)
{
	struct engine_checks checks = {.uart_bytes_in_timed = 99, .console_refused_bytes = 99};

	(void)state;
	printf("plan");
	report_timing_hooks.timing_starts();
	assert_true(locked);
	assert_int_equal(written, 4);
	report_timing_hooks.timing_ends(&checks);
	assert_false(locked);
	assert_int_equal(checks.uart_bytes_in_timed, 0);
	assert_int_equal(checks.console_refused_bytes, 0);
}

static void a_print_without_end_of_line(void **state)
{
	struct engine_checks checks = {0};

	(void)state;
	report_timing_hooks.timing_starts();
	printf("stray");
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
	printf("ouch");
	report_timing_hooks.timing_ends(&checks);
	assert_int_equal(checks.uart_bytes_in_timed, 4);
}

#define TIMING(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TIMING(a_quiet_run),
		TIMING(a_print_without_end_of_line),
		TIMING(bytes_past_the_lock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* sources: src/bench/report_timing.c */
/*
 * What lies around the timed part, with a fake console: everything is out before the lock, nothing
 * gets out under it, what was tried is counted and shown, and the marks for the host's clock.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "el1bench/console.h"
#include "el1bench/counter.h"
#include "el1bench/report.h"

#include <stdio.h>
#include <string.h>

#include "el1bench/wait.h"
#include "el1bench/wire.h"
#include "../../src/bench/report_state.h"

#define REFUSED_MAX 4096

static bool locked;
static bool drained;
static uint64_t written;
static uint64_t refused;
static char refused_text[REFUSED_MAX];
static console_refused_function refused_hook;
static uint64_t noted;
static uint64_t now;
static char said[8192];

uint64_t fake_counter(void)
{
	return now++;
}

void wait_until(uint64_t ticks)
{
	now = now < ticks ? ticks : now;
}

void wait_ms(uint32_t milliseconds)
{
	now += milliseconds * UINT64_C(1000);
}

void wait_for_tick(void)
{
	assert_true(locked);
}

void engine_note_output(size_t bytes, const uint64_t callers[BENCHMARK_CALLERS])
{
	assert_int_equal(callers[0], 0x1234);
	noted += bytes;
}

void console_write(const char *text, size_t bytes)
{
	const uint64_t callers[CONSOLE_CALLERS] = {0x1234};

	drained = false;
	if (locked) {
		memcpy(refused_text + refused, text, bytes);
		refused += bytes;
		refused_hook(bytes, callers);
	} else {
		written += bytes;
	}
}

/* Lines are kept one after the other; each says whether everything before it was out. */
void wire_line(const char *type, const char *format, ...)
{
	size_t length = strlen(said);
	va_list arguments;

	length += (size_t)sprintf(said + length, "%s%s ", drained ? "" : "UNDRAINED ", type);
	va_start(arguments, format);
	vsprintf(said + length, format, arguments);
	va_end(arguments);
	strcat(said, "\n");
	console_write("", 0);
}

void text_line(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsprintf(said + strlen(said), format, arguments);
	va_end(arguments);
	strcat(said, "\n");
}

void console_lock(console_refused_function hook)
{
	assert_true(drained);
	refused_hook = hook;
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

const char *console_refused_text(size_t *bytes)
{
	*bytes = refused < CONSOLE_KEPT_BYTES ? (size_t)refused : CONSOLE_KEPT_BYTES;
	return refused_text;
}

static int set_up(void **state)
{
	(void)state;
	locked = false;
	drained = false;
	written = 0;
	refused = 0;
	noted = 0;
	said[0] = '\0';
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
	report_stray_text();
	assert_memory_equal(said, "clock mark=timed counter=", 25);
	assert_int_equal(strchr(said, '\n')[1], 0);
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
	assert_int_equal(noted, 5);
}

static void what_was_tried_is_shown(void **state)
{
	struct engine_checks checks = {0};
	char block[400];

	(void)state;
	report_timing_hooks.timing_starts();
	console_write("one\ntw\0o", 8);
	console_write("\nthree", 6);
	report_timing_hooks.timing_ends(&checks);
	said[0] = '\0';
	report_stray_text();
	assert_string_equal(said, "14 bytes were written while timing; they are:\n"
				  "| one\n| tw?o\n| three\n");

	report_timing_hooks.timing_starts();
	memset(block, 'x', sizeof(block));
	for (int i = 0; i < 3; i++) {
		console_write(block, sizeof(block));
	}
	report_timing_hooks.timing_ends(&checks);
	said[0] = '\0';
	report_stray_text();
	assert_non_null(strstr(said, "[cut: 190 more bytes were not kept]\n"));
}

/* Eight marks at each end, some time apart, nothing else on its way, and the time asked for. */
static void marks(void **state)
{
	const struct arguments arguments = {.clock_ms = 700};
	unsigned long long counters[16];
	const char *at = said;
	char name[8];

	(void)state;
	report_clock_end(&arguments);
	assert_string_equal(said, ""); /* the run ended before it began */
	report_clock_begin(&(const struct arguments){.clock_ms = 0});
	report_clock_end(&(const struct arguments){.clock_ms = 0});
	assert_string_equal(said, ""); /* not wanted */
	report_clock_begin(&arguments);
	assert_true(drained);
	report_clock_end(&arguments);
	assert_true(drained);
	for (int i = 0; i < 16; i++) {
		assert_int_equal(sscanf(at, "clock mark=%7s counter=%llu", name, &counters[i]), 2);
		assert_string_equal(name, i < 8 ? "begin" : "end");
		at = strchr(at, '\n') + 1;
	}
	assert_int_equal(*at, '\0');
	assert_in_range(counters[1] - counters[0], 15000, 15100);
	assert_in_range(counters[8] - counters[0], 699990, 700100);
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
		TIMING(a_quiet_run), TIMING(a_print_while_timing), TIMING(what_was_tried_is_shown),
		TIMING(marks),       TIMING(bytes_past_the_lock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* sources: src/bench/wire.c src/bench/crc32.c */
/*
 * Machine lines as docs/log-format.md has them, with hostile bodies.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "el1bench/console.h"
#include "el1bench/watchdog.h"
#include "el1bench/wire.h"

static char *captured;
static size_t captured_bytes;
static FILE *console;

/* The console is a stream in memory here. */
void console_write(const char *bytes, size_t count)
{
	(void)fwrite(bytes, 1, count, stdout);
}

static uint32_t kicks;

void watchdog_kick(void)
{
	kicks++;
}

static int capture_start(void **state)
{
	(void)state;
	console = stdout;
	stdout = open_memstream(&captured, &captured_bytes);
	return stdout == NULL;
}

static int capture_end(void **state)
{
	(void)state;
	(void)fclose(stdout);
	stdout = console;
	free(captured);
	return 0;
}

/* What has been written since the start of the test, without the last line's end. */
static const char *text(void)
{
	(void)fflush(stdout);
	assert_true(captured_bytes > 0);
	assert_int_equal(captured[captured_bytes - 1], '\n');
	captured[captured_bytes - 1] = '\0';
	return captured;
}

static void expect_crc(const char *line_text)
{
	const char *mark = strrchr(line_text, '*');

	assert_non_null(mark);
	assert_int_equal(strtoul(mark + 1, NULL, 16),
			 crc32(0, line_text, (size_t)(mark - line_text) - 1));
}

static void crc_of_the_catalogue(void **state)
{
	(void)state;
	assert_int_equal(crc32(0, "123456789", 9), 0xcbf43926);
	assert_int_equal(crc32(crc32(0, "1234", 4), "56789", 5), 0xcbf43926);
	assert_int_equal(crc32(0, "", 0), 0);
}

static void a_line(void **state)
{
	uint32_t sequence = wire_line_count();
	char expected[64];

	(void)state;
	wire_line("info", "key=%s : %d cores", "cores", 4);
	(void)snprintf(expected, sizeof(expected), "@el1b info %u key=cores : 4 cores *", sequence);
	assert_memory_equal(text(), expected, strlen(expected));
	expect_crc(captured);
	assert_int_equal(wire_line_count(), sequence + 1);
}

static void hostile_bytes(void **state)
{
	(void)state;
	wire_line("info", "key=x : %s", "a\r\n@el1b end 7\x80\x1b[2J");
	assert_non_null(strstr(text(), " : a??@el1b?end 7??[2J *"));
	assert_null(strchr(captured, '\n'));
	expect_crc(captured);
}

static void no_false_crash(void **state)
{
	static const char *const strings[] = {
		"WARNING:",
		"BUG:",
		"Oops",
		"Unhandled fault",
		"invalid opcode:",
		"Kernel panic - not syncing",
		"-[ cut here ]",
		"Login incorrect",
		"Login timed out",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++) {
		assert_false(wire_is_clean(strings[i]));
		wire_line("ignored", " : x%s%s y", strings[i], strings[i]);
		text_line("%s", strings[i]);
	}
	(void)text();
	for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++) {
		assert_null(strstr(captured, strings[i]));
	}
	assert_true(wire_is_clean("warning: Oop s"));
}

static void long_bodies(void **state)
{
	(void)state;
	for (int length = WIRE_LINE_MAX - 64; length < WIRE_LINE_MAX + 64; length++) {
		char *body = malloc((size_t)length + 1);
		const char *end;

		memset(body, 'x', (size_t)length);
		body[length] = '\0';
		wire_line("info", "%s", body);
		end = text();
		assert_true(strlen(end) <= WIRE_LINE_MAX);
		expect_crc(end);
		if (strstr(end, "...") == NULL) {
			assert_non_null(strstr(end, body));
		} else {
			assert_int_equal(strlen(end), WIRE_LINE_MAX);
		}
		free(body);
		(void)fseeko(stdout, 0, SEEK_SET);
		captured_bytes = 0;
	}
	text_line("%*s", 3 * WIRE_LINE_MAX, "");
	assert_int_equal(strlen(text()), WIRE_LINE_MAX);
}

#define CAPTURED(test) cmocka_unit_test_setup_teardown(test, capture_start, capture_end)

static void types_can_bear_a_prefix(void **state)
{
	const char *line_text;

	(void)state;
	wire_prefix_types("was-");
	wire_line("metric", "1");
	wire_prefix_types("");
	line_text = text();
	assert_non_null(strstr(line_text, WIRE_PREFIX " was-metric "));
	expect_crc(line_text);
}

static void each_line_keeps_the_watchdog_quiet(void **state)
{
	uint32_t before = kicks;

	(void)state;
	wire_line("info", "x");
	text_line("x");
	assert_int_equal(kicks, before + 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(crc_of_the_catalogue),
		CAPTURED(a_line),
		CAPTURED(hostile_bytes),
		CAPTURED(no_false_crash),
		CAPTURED(long_bodies),
		CAPTURED(types_can_bear_a_prefix),
		CAPTURED(each_line_keeps_the_watchdog_quiet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* sources: src/runtime/console.c */
/*
 * The console over a made-up UART: line ends, the lock, and a UART that never becomes ready.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "el1bench/console.h"
#include "el1bench/counter.h"
#include "el1bench/uart.h"

static char output[256];
static size_t output_bytes;
static bool dead;
static uint64_t now;
static uint64_t polls;

uint64_t fake_counter(void)
{
	return now++;
}

static void model_start(volatile void *registers)
{
	(void)registers;
}

static bool model_ready(volatile void *registers)
{
	(void)registers;
	polls++;
	return !dead;
}

static void model_put(volatile void *registers, uint8_t byte)
{
	(void)registers;
	assert_true(output_bytes < sizeof(output));
	output[output_bytes++] = (char)byte;
}

static const struct uart_driver model = {
	.name = "model",
	.start = model_start,
	.ready = model_ready,
	.put = model_put,
	.drained = model_ready,
};

static int reset(void **state)
{
	static uint32_t registers[4];

	(void)state;
	memset(output, 0, sizeof(output));
	output_bytes = 0;
	dead = false;
	console_start(&model, registers);
	return 0;
}

static void line_ends_become_cr_lf(void **state)
{
	uint64_t before = console_bytes_written();

	(void)state;
	console_write("a\nb\n", 4);
	assert_string_equal(output, "a\r\nb\r\n");
	assert_int_equal(console_bytes_written() - before, 6);
	assert_true(console_started());
}

static void nothing_passes_the_lock(void **state)
{
	uint64_t before = console_bytes_written();

	(void)state;
	assert_int_equal(console_refused_bytes(), 0);
	console_lock();
	console_write("stray", 5);
	console_write("x", 1);
	assert_int_equal(output_bytes, 0);
	assert_int_equal(console_bytes_written(), before);
	assert_int_equal(console_refused_bytes(), 6);
	assert_true(console_refused_from() != 0);
	console_unlock();
	console_write("y", 1);
	assert_string_equal(output, "y");
	console_lock();
	console_force_unlock();
	console_write("z", 1);
	assert_string_equal(output, "yz");
	assert_int_equal(console_refused_bytes(), 6);
}

/* One time-out in all, not one for each byte; and it goes on when the UART does. */
static void a_dead_uart_costs_one_wait(void **state)
{
	uint64_t start = now;

	(void)state;
	dead = true;
	console_write("abc", 3);
	assert_in_range(now - start, 200000, 210000);
	polls = 0;
	console_write("0123456789", 10);
	console_drain();
	assert_in_range(polls, 11, 22);
	assert_int_equal(output_bytes, 0);
	dead = false;
	console_write("d", 1);
	assert_string_equal(output, "d");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(line_ends_become_cr_lf, reset),
		cmocka_unit_test_setup(nothing_passes_the_lock, reset),
		cmocka_unit_test_setup(a_dead_uart_costs_one_wait, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

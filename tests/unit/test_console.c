/* sources: src/runtime/console.c */
/*
 * The console over a made-up UART: line ends, the lock, a UART that never becomes ready, and the
 * line that is imagined behind one that is always ready.
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
#include "el1bench/wait.h"

#define FIFO_BYTES 4
#define BAUD 10000 /* a byte takes 1,000 ticks of the fake counter */

static char output[4096];
static size_t output_bytes;
static bool dead;
static uint64_t now;
static uint64_t polls;

uint64_t fake_counter(void)
{
	return now++;
}

static uint64_t oversleep;
static bool ready = true;
static uint64_t refused_bytes;
static uint64_t refused_callers[CONSOLE_CALLERS];

/* Sleeps to the tick, or too long. */
void wait_until(uint64_t ticks)
{
	now = now < ticks ? ticks + oversleep : now;
}

bool wait_ready(void)
{
	return ready;
}

static void note_refused(size_t bytes, const uint64_t callers[CONSOLE_CALLERS])
{
	refused_bytes += bytes;
	memcpy(refused_callers, callers, sizeof(refused_callers));
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

static uint32_t setting = 68;

static uint32_t model_speed(volatile void *registers)
{
	(void)registers;
	return setting;
}

static bool model_speed_for(uint32_t baud, uint32_t *found)
{
	*found = 25;
	return baud == 921600;
}

static void model_set_speed(volatile void *registers, uint32_t value)
{
	(void)registers;
	setting = value;
}

static const struct uart_driver model = {
	.name = "model",
	.fifo_bytes = FIFO_BYTES,
	.start = model_start,
	.ready = model_ready,
	.put = model_put,
	.drained = model_ready,
	.speed = model_speed,
	.speed_for = model_speed_for,
	.set_speed = model_set_speed,
};

static int reset(void **state)
{
	static uint32_t registers[4];

	(void)state;
	memset(output, 0, sizeof(output));
	output_bytes = 0;
	dead = false;
	oversleep = 0;
	console_pace(0);
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
	size_t kept;

	(void)state;
	assert_int_equal(console_refused_bytes(), 0);
	console_lock(note_refused);
	console_write("stray", 5);
	console_write("x", 1);
	assert_int_equal(output_bytes, 0);
	assert_int_equal(console_bytes_written(), before);
	assert_int_equal(console_refused_bytes(), 6);
	assert_int_equal(refused_bytes, 6);
	assert_memory_equal(console_refused_text(&kept), "strayx", 6);
	assert_int_equal(kept, 6);
	console_unlock();
	console_write("y", 1);
	assert_string_equal(output, "y");
	console_lock(NULL);
	console_force_unlock();
	console_write("z", 1);
	assert_string_equal(output, "yz");
	assert_int_equal(console_refused_bytes(), 6);
}

__attribute__((noinline)) static void stray_print(void)
{
	console_write("s", 1);
	__asm__ volatile("" : : : "memory"); /* a call, not a jump */
}

__attribute__((noinline)) static void careless(void)
{
	stray_print();
	__asm__ volatile("" : : : "memory");
}

static bool lies_in(uint64_t address, void (*function)(void))
{
	return address - (uint64_t)(uintptr_t)function - 1 < 200;
}

static void the_callers_are_told(void **state)
{
	(void)state;
	console_lock(note_refused);
	careless();
	console_unlock();
	assert_true(lies_in(refused_callers[0], stray_print));
	assert_true(lies_in(refused_callers[1], careless));
	assert_true(refused_callers[2] != 0);
}

static void refused_text_is_cut(void **state)
{
	uint64_t before = console_refused_bytes();
	char block[100];
	size_t kept;

	(void)state;
	memset(block, 'b', sizeof(block));
	console_lock(NULL);
	for (int i = 0; i < 20; i++) {
		console_write(block, sizeof(block));
	}
	console_unlock();
	assert_int_equal(console_refused_bytes() - before, 2000);
	assert_int_equal(console_refused_text(&kept)[CONSOLE_KEPT_BYTES - 1], 'b');
	assert_int_equal(kept, CONSOLE_KEPT_BYTES);
}

/* As many bytes as the FIFO and the shift register hold are free; each further one waits. */
static void a_paced_line_fills_its_fifo_first(void **state)
{
	uint64_t start = now;

	(void)state;
	console_pace(BAUD);
	console_write("12345", FIFO_BYTES + 1);
	assert_in_range(now - start, 0, 100);
	console_write("6", 1);
	assert_in_range(now - start, 1000, 1100);
	console_write("7", 1);
	assert_in_range(now - start, 2000, 2100);
	console_drain();
	assert_in_range(now - start, 7000, 7100);
	assert_string_equal(output, "1234567");
}

static void a_paced_line_takes_its_time(void **state)
{
	char block[3000];
	uint64_t start = now;

	(void)state;
	memset(block, 'p', sizeof(block));
	console_pace(BAUD);
	console_write(block, sizeof(block));
	console_drain();
	assert_in_range(now - start, 3000000, 3000100);
}

/* A byte takes 8.68 ticks: 1,152 of them take 10,000, not 9,216. */
static void a_paced_line_keeps_fractions(void **state)
{
	char block[1152];
	uint64_t start = now;

	(void)state;
	memset(block, 'p', sizeof(block));
	console_pace(1152000);
	console_write(block, sizeof(block));
	console_drain();
	assert_in_range(now - start, 10000, 10020);
}

/* Before there is a timer nothing waits; the first byte after that makes up for all of it. */
static void a_paced_line_waits_later(void **state)
{
	uint64_t start = now;

	(void)state;
	console_pace(BAUD);
	ready = false;
	console_write("0123456789", 10);
	console_drain();
	assert_in_range(now - start, 0, 200);
	ready = true;
	console_write("0", 1);
	assert_in_range(now - start, 10000 - FIFO_BYTES * 1000, 10200 - FIFO_BYTES * 1000);
	console_drain();
	assert_in_range(now - start, 11000, 11200);
}

/* Waits that end late leave the line no later in the end; the writer's own pauses do. */
static void a_paced_line_makes_up_for_late_waits(void **state)
{
	char block[1000];
	uint64_t start = now;

	(void)state;
	memset(block, 'p', sizeof(block));
	console_pace(BAUD);
	oversleep = 7500;
	console_write(block, sizeof(block));
	assert_in_range(now - start, 994000, 1010000);
	oversleep = 0;
	console_drain();
	now += 50000;
	start = now;
	console_write(block, sizeof(block));
	console_drain();
	assert_in_range(now - start, 1000000, 1000100);
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

/* The UART is drained before its speed changes: bytes on their way would be spoilt. */
static void the_speed_is_set_and_restored(void **state)
{
	uint32_t before;

	(void)state;
	assert_false(console_can_speed(4000000));
	assert_true(console_can_speed(921600));
	polls = 0;
	before = console_set_speed(921600);
	assert_int_equal(polls, 1);
	assert_int_equal(before, 68);
	assert_int_equal(setting, 25);
	console_restore_speed(before);
	assert_int_equal(polls, 2);
	assert_int_equal(setting, 68);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(line_ends_become_cr_lf, reset),
		cmocka_unit_test_setup(the_speed_is_set_and_restored, reset),
		cmocka_unit_test_setup(nothing_passes_the_lock, reset),
		cmocka_unit_test_setup(the_callers_are_told, reset),
		cmocka_unit_test_setup(refused_text_is_cut, reset),
		cmocka_unit_test_setup(a_paced_line_fills_its_fifo_first, reset),
		cmocka_unit_test_setup(a_paced_line_takes_its_time, reset),
		cmocka_unit_test_setup(a_paced_line_keeps_fractions, reset),
		cmocka_unit_test_setup(a_paced_line_waits_later, reset),
		cmocka_unit_test_setup(a_paced_line_makes_up_for_late_waits, reset),
		cmocka_unit_test_setup(a_dead_uart_costs_one_wait, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

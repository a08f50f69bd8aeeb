/*
 * The console: bytes into the UART, none while timing, and no wait without an end.
 */
#include "el1bench/console.h"

#include <string.h>

#include "el1bench/counter.h"
#include "el1bench/uart.h"
#include "el1bench/wait.h"

#define BITS_PER_BYTE 10U /* 8N1: with start and stop bit */
#define FRAME_REACH 4096U /* a caller's frame is no further up the stack than this */

/* A FIFO of 128 bytes at 9,600 baud is empty after 133 ms. */
#define READY_WAIT_MS 200
#define DRAIN_WAIT_MS 400

static struct {
	const struct uart_driver *driver;
	volatile void *registers;
	uint64_t bytes_written;
	uint64_t refused_bytes;
	console_refused_function refused;
	bool locked;
	bool stuck; /* the last wait timed out: do not wait again before it moves */
} console;

/* The line that `console_pace` imagines behind the UART. */
static struct {
	uint32_t baud; /* 0: none */
	uint64_t idle; /* the counter when its last byte has gone */
	uint64_t rest; /* of the last division, in ticks * baud */
	uint64_t late; /* how much too late the last wait ended, ticks, unless made up for */
} line;

static char refused_text[CONSOLE_KEPT_BYTES];

void console_start(const struct uart_driver *driver, volatile void *registers)
{
	driver->start(registers);
	console.registers = registers;
	console.driver = driver;
}

bool console_started(void)
{
	return console.driver != NULL;
}

/* Waits until `condition` holds; after one time-out only looks, so that a dead UART costs once. */
static bool wait_for(bool (*condition)(volatile void *registers), uint32_t milliseconds)
{
	struct deadline deadline;

	if (condition(console.registers)) {
		console.stuck = false;
		return true;
	}
	if (console.stuck) {
		return false;
	}
	deadline = deadline_in_ms(milliseconds);
	while (!condition(console.registers)) {
		if (deadline_passed(&deadline)) {
			console.stuck = true;
			return false;
		}
	}
	return true;
}

void console_pace(uint32_t baud)
{
	line.baud = counter_hz() == 0 ? 0 : baud;
}

/*
 * Waits until the FIFO of the imagined line has room, and adds a byte to it. A wait that ended
 * late, as it does when an emulator's host is busy, does not count as a time in which the line was
 * idle: the bytes after it make up for it. What the first lines of a boot would have waited, before
 * there is a timer to sleep by, the first byte after them waits.
 */
static void pace_byte(void)
{
	uint64_t bits = counter_hz() * BITS_PER_BYTE;
	uint64_t fifo = bits * console.driver->fifo_bytes / line.baud;
	uint64_t now = counter_begin();

	if ((int64_t)(now - line.idle) >= 0) {
		line.late = now - line.idle < line.late ? now - line.idle : line.late;
		line.idle = now - line.late;
	} else if (line.idle - now > fifo && wait_ready()) {
		wait_until(line.idle - fifo);
		line.late = counter_begin() - (line.idle - fifo);
	} else {
		line.late = 0;
	}
	line.rest += bits;
	line.idle += line.rest / line.baud;
	line.rest %= line.baud;
}

static void put(char byte)
{
	if (line.baud != 0) {
		pace_byte();
	}
	if (wait_for(console.driver->ready, READY_WAIT_MS)) {
		console.driver->put(console.registers, (uint8_t)byte);
		console.bytes_written++;
	}
}

/*
 * Follows the chain of frame records (AAPCS64, 6.4.6): each holds the address of the next, further
 * up, and a return address. It stops at anything that does not look like one.
 */
static void find_callers(const uint64_t *frame, uint64_t callers[CONSOLE_CALLERS])
{
	for (unsigned int i = 0; i < CONSOLE_CALLERS; i++) {
		uint64_t next = frame[0];

		callers[i] = frame[1];
		if (next % 16 != 0 || next - (uint64_t)(uintptr_t)frame - 1 >= FRAME_REACH) {
			break;
		}
		frame = (const uint64_t *)(uintptr_t)next;
	}
}

static void refuse(const char *text, size_t bytes, const uint64_t *frame)
{
	uint64_t callers[CONSOLE_CALLERS] = {0};

	if (console.refused_bytes < CONSOLE_KEPT_BYTES) {
		size_t room = CONSOLE_KEPT_BYTES - (size_t)console.refused_bytes;

		memcpy(refused_text + console.refused_bytes, text, bytes < room ? bytes : room);
	}
	console.refused_bytes += bytes;
	if (console.refused != NULL) {
		find_callers(frame, callers);
		console.refused(bytes, callers);
	}
}

void console_write(const char *text, size_t bytes)
{
	if (console.locked) {
		refuse(text, bytes, __builtin_frame_address(0));
		return;
	}
	if (console.driver == NULL) {
		return;
	}
	for (size_t i = 0; i < bytes; i++) {
		if (text[i] == '\n') {
			put('\r');
		}
		put(text[i]);
	}
}

void console_drain(void)
{
	if (line.baud != 0 && wait_ready()) {
		wait_until(line.idle);
		line.late = 0;
	}
	if (console.driver != NULL) {
		(void)wait_for(console.driver->drained, DRAIN_WAIT_MS);
	}
}

bool console_can_speed(uint32_t baud)
{
	uint32_t setting;

	return console.driver != NULL && console.driver->speed_for != NULL &&
	       console.driver->speed_for(baud, &setting);
}

uint32_t console_set_speed(uint32_t baud)
{
	uint32_t before = console.driver->speed(console.registers);
	uint32_t setting = before;

	(void)console.driver->speed_for(baud, &setting);
	console_restore_speed(setting);
	return before;
}

void console_restore_speed(uint32_t before)
{
	console_drain();
	console.driver->set_speed(console.registers, before);
}

void console_lock(console_refused_function refused)
{
	console.refused = refused;
	console.locked = true;
}

void console_unlock(void)
{
	console.locked = false;
}

void console_force_unlock(void)
{
	console.locked = false;
}

uint64_t console_refused_bytes(void)
{
	return console.refused_bytes;
}

const char *console_refused_text(size_t *bytes)
{
	*bytes = console.refused_bytes < CONSOLE_KEPT_BYTES ? (size_t)console.refused_bytes
							    : CONSOLE_KEPT_BYTES;
	return refused_text;
}

uint64_t console_bytes_written(void)
{
	return console.bytes_written;
}

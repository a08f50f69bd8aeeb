/*
 * The console: bytes into the UART, none while timing, and no wait without an end.
 */
#include "el1bench/console.h"

#include "el1bench/counter.h"
#include "el1bench/uart.h"

/* A FIFO of 128 bytes at 9,600 baud is empty after 133 ms. */
#define READY_WAIT_MS 200
#define DRAIN_WAIT_MS 400

static struct {
	const struct uart_driver *driver;
	volatile void *registers;
	uint64_t bytes_written;
	uint64_t refused_bytes;
	uint64_t refused_from;
	bool locked;
	bool stuck; /* the last wait timed out: do not wait again before it moves */
} console;

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

static void put(char byte)
{
	if (wait_for(console.driver->ready, READY_WAIT_MS)) {
		console.driver->put(console.registers, (uint8_t)byte);
		console.bytes_written++;
	}
}

void console_write(const char *text, size_t bytes)
{
	if (console.locked) {
		if (console.refused_bytes == 0) {
			console.refused_from = (uint64_t)(uintptr_t)__builtin_return_address(0);
		}
		console.refused_bytes += bytes;
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
	if (console.driver != NULL) {
		(void)wait_for(console.driver->drained, DRAIN_WAIT_MS);
	}
}

void console_lock(void)
{
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

uint64_t console_refused_from(void)
{
	return console.refused_from;
}

uint64_t console_bytes_written(void)
{
	return console.bytes_written;
}

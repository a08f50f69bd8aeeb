/*
 * The console's UART. One driver is one file: it fills in a `struct uart_driver` and adds its
 * `compatible` strings with UART_DRIVER. All are polled, transmit only, and keep the line settings
 * that firmware left until told to set a speed. Core 0, after its registers are mapped.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct uart_driver {
	const char *name;
	const char *const *compatible; /* NULL-terminated, as in the device tree */
	uint32_t fifo_bytes;           /* that can wait to be sent, besides the one on its way */
	/* Makes the transmitter usable without losing bytes that firmware queued. */
	void (*start)(volatile void *registers);
	/* True if a byte can be written now. */
	bool (*ready)(volatile void *registers);
	/* Writes a byte; only after `ready` said yes. */
	void (*put)(volatile void *registers, uint8_t byte);
	/* True once every byte has left the shift register. */
	bool (*drained)(volatile void *registers);
	/*
	 * The line's speed, or NULL where it cannot be set. `speed` reads the setting;
	 * `speed_for` finds the one for a baud rate, false if the clock does not come within 2 %
	 * of it; `set_speed` writes a setting, only while the UART is drained.
	 */
	uint32_t (*speed)(volatile void *registers);
	bool (*speed_for)(uint32_t baud, uint32_t *setting);
	void (*set_speed)(volatile void *registers, uint32_t setting);
};

/* Adds a driver to the table that `uart_find` walks (a linker section). */
#define UART_DRIVER(identifier)                                                                    \
	static const struct uart_driver *const identifier##_entry                                  \
		__attribute__((used, section(".uart_drivers." #identifier))) = &(identifier)

/* The driver for a `compatible` string, or NULL. */
const struct uart_driver *uart_find(const char *compatible);

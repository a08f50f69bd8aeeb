/*
 * Finds the driver for a UART's `compatible` string among those that registered themselves with
 * UART_DRIVER; the linker script gathers them between two symbols. Knows none of them by name.
 */
#include "el1bench/uart.h"

#include <stddef.h>
#include <string.h>

extern const struct uart_driver *const uart_drivers_start[];
extern const struct uart_driver *const uart_drivers_end[];

const struct uart_driver *uart_find(const char *compatible)
{
	for (const struct uart_driver *const *entry = uart_drivers_start; entry != uart_drivers_end;
	     entry++) {
		for (const char *const *name = (*entry)->compatible; *name != NULL; name++) {
			if (strcmp(*name, compatible) == 0) {
				return *entry;
			}
		}
	}
	return NULL;
}

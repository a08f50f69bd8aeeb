/*
 * The board's watchdog: it resets the machine unless it is armed anew in time. One driver is one
 * file: it fills in a `struct watchdog_driver` and registers it with WATCHDOG_DRIVER. Core 0, never
 * in timed code.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct watchdog_driver {
	const char *compatible; /* as in the device tree */
	uint32_t max_ms;        /* the longest that it can wait */
	/* Starts the wait anew: a reset comes `milliseconds` (1 to max_ms) from now. */
	void (*arm)(volatile void *registers, uint32_t milliseconds);
	/* No reset will come. */
	void (*stop)(volatile void *registers);
};

/* Adds a driver to the table that `watchdog_driver` walks (a linker section). */
#define WATCHDOG_DRIVER(identifier)                                                                \
	static const struct watchdog_driver *const identifier##_entry                              \
		__attribute__((used, section(".watchdog_drivers." #identifier))) = &(identifier)

/* The driver at a place of the table, NULL behind the last. */
const struct watchdog_driver *watchdog_driver(uint32_t index);

/*
 * Takes a watchdog into use, its registers mapped, and arms it. What `watchdog_kick` arms it for is
 * `usual_ms`, or as long as it can wait.
 */
void watchdog_start(const struct watchdog_driver *driver, volatile void *registers,
		    uint32_t usual_ms);

/* The functions below do nothing where no watchdog is in use. */

/* Arms it anew, for a stretch in which nobody will. At most watchdog_max_ms(). */
void watchdog_arm(uint32_t milliseconds);

/* Arms it anew for the usual time: whoever gets on, other than by measuring, calls it. */
void watchdog_kick(void);

/* Stops it for good. */
void watchdog_stop(void);

/* The longest that it can wait; 0 if none is in use. */
uint32_t watchdog_max_ms(void);

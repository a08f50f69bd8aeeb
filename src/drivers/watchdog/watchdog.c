/*
 * The watchdog in use, and the table of drivers that the linker script gathers. Knows none of them
 * by name.
 */
#include "el1bench/watchdog.h"

#include <stddef.h>

extern const struct watchdog_driver *const watchdog_drivers_start[];
extern const struct watchdog_driver *const watchdog_drivers_end[];

static struct {
	const struct watchdog_driver *driver; /* NULL: none */
	volatile void *registers;
	uint32_t usual_ms;
} watchdog;

const struct watchdog_driver *watchdog_driver(uint32_t index)
{
	const struct watchdog_driver *const *entry = watchdog_drivers_start + index;

	return entry < watchdog_drivers_end ? *entry : NULL;
}

void watchdog_start(const struct watchdog_driver *driver, volatile void *registers,
		    uint32_t usual_ms)
{
	watchdog.driver = driver;
	watchdog.registers = registers;
	watchdog.usual_ms = usual_ms < driver->max_ms ? usual_ms : driver->max_ms;
	watchdog_kick();
}

void watchdog_arm(uint32_t milliseconds)
{
	if (watchdog.driver != NULL) {
		watchdog.driver->arm(watchdog.registers, milliseconds);
	}
}

void watchdog_kick(void)
{
	watchdog_arm(watchdog.usual_ms);
}

void watchdog_stop(void)
{
	if (watchdog.driver != NULL) {
		watchdog.driver->stop(watchdog.registers);
		watchdog.driver = NULL;
	}
}

uint32_t watchdog_max_ms(void)
{
	return watchdog.driver == NULL ? 0 : watchdog.driver->max_ms;
}

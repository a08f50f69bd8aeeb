/*
 * A UART's registers as plain words that a test sets and reads back, with a count of
 * writes. For test_uart_*.c, each of which includes its driver's source to reach the static parts.
 */
#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include "el1bench/mmio.h"
#include "el1bench/uart.h"

static volatile uint32_t model_registers[32];
static int model_write_count;

static inline void model_set(uint32_t offset, uint32_t value)
{
	model_registers[offset / 4] = value;
}

static inline uint32_t model_get(uint32_t offset)
{
	return model_registers[offset / 4];
}

static int model_reset(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(model_registers) / sizeof(model_registers[0]); i++) {
		model_registers[i] = 0;
	}
	model_write_count = 0;
	return 0;
}

uint32_t read32(const volatile void *base, uint32_t offset)
{
	assert_ptr_equal(base, model_registers);
	assert_int_equal(offset % 4, 0);
	assert_true(offset < sizeof(model_registers));
	return model_registers[offset / 4];
}

void write32(volatile void *base, uint32_t offset, uint32_t value)
{
	assert_ptr_equal(base, model_registers);
	assert_int_equal(offset % 4, 0);
	assert_true(offset < sizeof(model_registers));
	model_registers[offset / 4] = value;
	model_write_count++;
}

/* True if the driver takes on devices with that `compatible`. */
static inline bool takes(const struct uart_driver *driver, const char *compatible)
{
	for (const char *const *name = driver->compatible; *name != NULL; name++) {
		if (strcmp(*name, compatible) == 0) {
			return true;
		}
	}
	return false;
}

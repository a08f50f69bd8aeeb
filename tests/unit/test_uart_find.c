/* sources: src/drivers/uart/uart.c */
/*
 * The search for a UART's driver by its `compatible` string, over a table of two made-up drivers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "el1bench/uart.h"

static const char *const names_a[] = {"vendor,a", NULL};
static const char *const names_b[] = {"vendor,b2", "vendor,b", NULL};
static const struct uart_driver driver_a = {.name = "a", .compatible = names_a};
static const struct uart_driver driver_b = {.name = "b", .compatible = names_b};

/* What the linker script does in the image. */
extern const struct uart_driver *const uart_drivers_start[2];
const struct uart_driver *const uart_drivers_start[2] = {&driver_a, &driver_b};
__asm__(".global uart_drivers_end\n\t.set uart_drivers_end, uart_drivers_start + 2 * 8");

static void finds_each_name(void **state)
{
	(void)state;
	assert_ptr_equal(uart_find("vendor,a"), &driver_a);
	assert_ptr_equal(uart_find("vendor,b"), &driver_b);
	assert_ptr_equal(uart_find("vendor,b2"), &driver_b);
}

static void finds_nothing_else(void **state)
{
	(void)state;
	assert_null(uart_find("vendor,"));
	assert_null(uart_find("vendor,aa"));
	assert_null(uart_find("vendor,c"));
	assert_null(uart_find(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_each_name),
		cmocka_unit_test(finds_nothing_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

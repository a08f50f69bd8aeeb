/* sources: */
/*
 * The PL011 driver against a model of its registers.
 */
#include "uart_model.h"

#include "../../src/drivers/uart/pl011.c"

static void takes_its_devices(void **state)
{
	(void)state;
	assert_true(takes(&pl011, "arm,pl011"));
	assert_false(takes(&pl011, "arm,primecell"));
}

static void leaves_an_enabled_uart_alone(void **state)
{
	(void)state;
	model_set(UARTCR, 0x301);
	pl011.start(model_registers);
	assert_int_equal(model_write_count, 0);
}

static void enables_a_disabled_uart_and_nothing_else(void **state)
{
	(void)state;
	model_set(UARTCR, 0xc200);
	pl011.start(model_registers);
	assert_int_equal(model_write_count, 1);
	assert_int_equal(model_get(0x30), 0xc301);
}

static void is_ready_unless_full(void **state)
{
	(void)state;
	model_set(0x18, 0x20);
	assert_false(pl011.ready(model_registers));
	model_set(0x18, 0x88);
	assert_true(pl011.ready(model_registers));
	model_set(0x18, 0x08);
	assert_true(pl011.ready(model_registers));
}

static void writes_the_byte(void **state)
{
	(void)state;
	pl011.put(model_registers, 0xe9);
	assert_int_equal(model_write_count, 1);
	assert_int_equal(model_get(0x00), 0xe9);
}

static void is_drained_when_empty_and_idle(void **state)
{
	(void)state;
	model_set(0x18, 0x80);
	assert_true(pl011.drained(model_registers));
	model_set(0x18, 0x88); /* FIFO empty, shift register busy */
	assert_false(pl011.drained(model_registers));
	model_set(0x18, 0x00);
	assert_false(pl011.drained(model_registers));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(takes_its_devices, model_reset),
		cmocka_unit_test_setup(leaves_an_enabled_uart_alone, model_reset),
		cmocka_unit_test_setup(enables_a_disabled_uart_and_nothing_else, model_reset),
		cmocka_unit_test_setup(is_ready_unless_full, model_reset),
		cmocka_unit_test_setup(writes_the_byte, model_reset),
		cmocka_unit_test_setup(is_drained_when_empty_and_idle, model_reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

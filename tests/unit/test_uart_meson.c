/* sources: */
/*
 * The Meson UART driver against a model of its registers.
 */
#include "uart_model.h"

#include "../../src/drivers/uart/meson.c"

static void takes_its_devices(void **state)
{
	(void)state;
	assert_true(takes(&meson, "amlogic,meson-gx-uart"));
	assert_true(takes(&meson, "amlogic,meson-ao-uart"));
	assert_true(takes(&meson, "amlogic,meson-g12a-uart"));
	assert_false(takes(&meson, "amlogic,meson"));
}

static void leaves_an_enabled_uart_alone(void **state)
{
	(void)state;
	model_set(0x08, 0x3000);
	meson.start(model_registers);
	assert_int_equal(model_write_count, 0);
}

static void enables_the_transmitter_without_a_reset(void **state)
{
	(void)state;
	model_set(0x08, 0x8002a123);
	model_set(0x14, 0x01800044);
	meson.start(model_registers);
	assert_int_equal(model_write_count, 1);
	assert_int_equal(model_get(0x08), 0x8002b123);
	assert_int_equal(model_get(0x14), 0x01800044);
}

static void ends_a_reset_that_is_held(void **state)
{
	(void)state;
	model_set(0x08, 0x00401000);
	meson.start(model_registers);
	assert_int_equal(model_get(0x08), 0x00001000);
}

static void is_ready_unless_full(void **state)
{
	(void)state;
	model_set(0x0c, 0x02200000);
	assert_false(meson.ready(model_registers));
	model_set(0x0c, 0x02000000);
	assert_true(meson.ready(model_registers));
}

static void writes_the_byte(void **state)
{
	(void)state;
	meson.put(model_registers, 0xe9);
	assert_int_equal(model_write_count, 1);
	assert_int_equal(model_get(0x00), 0xe9);
}

static void is_drained_when_empty_and_idle(void **state)
{
	(void)state;
	model_set(0x0c, 0x00400000);
	assert_true(meson.drained(model_registers));
	model_set(0x0c, 0x02400000); /* FIFO empty, shift register busy */
	assert_false(meson.drained(model_registers));
	model_set(0x0c, 0x00000100);
	assert_false(meson.drained(model_registers));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(takes_its_devices, model_reset),
		cmocka_unit_test_setup(leaves_an_enabled_uart_alone, model_reset),
		cmocka_unit_test_setup(enables_the_transmitter_without_a_reset, model_reset),
		cmocka_unit_test_setup(ends_a_reset_that_is_held, model_reset),
		cmocka_unit_test_setup(is_ready_unless_full, model_reset),
		cmocka_unit_test_setup(writes_the_byte, model_reset),
		cmocka_unit_test_setup(is_drained_when_empty_and_idle, model_reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

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

static void sets_the_speed(void **state)
{
	uint32_t setting = 0;

	(void)state;
	assert_true(meson.speed_for(115200, &setting));
	assert_int_equal(setting, 0x058000cf);
	assert_true(meson.speed_for(921600, &setting));
	assert_int_equal(setting, 0x05800019);
	assert_true(meson.speed_for(4000000, &setting));
	assert_int_equal(setting, 0x05800005);
	model_set(0x14, 0x01800044);
	assert_int_equal(meson.speed(model_registers), 0x01800044);
	meson.set_speed(model_registers, setting);
	assert_int_equal(model_get(0x14), 0x05800005);
	assert_int_equal(model_write_count, 1);
}

static void knows_what_it_cannot_do(void **state)
{
	uint32_t setting = 7;

	(void)state;
	assert_false(meson.speed_for(0, &setting));
	assert_false(meson.speed_for(1, &setting));
	assert_false(meson.speed_for(3500000, &setting)); /* 24 MHz / 7 is 2.04 % off */
	assert_false(meson.speed_for(100000000, &setting));
	assert_int_equal(setting, 7);
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
		cmocka_unit_test_setup(sets_the_speed, model_reset),
		cmocka_unit_test_setup(knows_what_it_cannot_do, model_reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

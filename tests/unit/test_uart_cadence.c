/* sources: */
/*
 * The Cadence UART driver against a model of its registers.
 */
#include "uart_model.h"

#include "../../src/drivers/uart/cadence.c"

static void takes_its_devices(void **state)
{
	(void)state;
	assert_true(takes(&cadence, "xlnx,zynqmp-uart"));
	assert_true(takes(&cadence, "cdns,uart-r1p12"));
	assert_true(takes(&cadence, "xlnx,xuartps"));
	assert_true(takes(&cadence, "cdns,uart-r1p8"));
	assert_false(takes(&cadence, "cdns,uart"));
}

static void leaves_an_enabled_uart_alone(void **state)
{
	(void)state;
	model_set(0x00, 0x114);
	cadence.start(model_registers);
	assert_int_equal(model_write_count, 0);
}

static void enables_the_transmitter_without_a_reset(void **state)
{
	(void)state;
	model_set(0x00, 0x12b); /* the reset value, with both FIFO resets asked for */
	cadence.start(model_registers);
	assert_int_equal(model_write_count, 1);
	assert_int_equal(model_get(0x00), 0x118);
}

static void switches_off_the_disable_that_wins(void **state)
{
	(void)state;
	model_set(0x00, 0x34);
	cadence.start(model_registers);
	assert_int_equal(model_get(0x00), 0x14);
}

static void is_ready_unless_full(void **state)
{
	(void)state;
	model_set(0x2c, 0x810);
	assert_false(cadence.ready(model_registers));
	model_set(0x2c, 0x800);
	assert_true(cadence.ready(model_registers));
}

static void writes_the_byte(void **state)
{
	(void)state;
	cadence.put(model_registers, 0xe9);
	assert_int_equal(model_write_count, 1);
	assert_int_equal(model_get(0x30), 0xe9);
}

static void is_drained_when_empty_and_idle(void **state)
{
	(void)state;
	model_set(0x2c, 0x008);
	assert_true(cadence.drained(model_registers));
	model_set(0x2c, 0x808); /* FIFO empty, shift register busy */
	assert_false(cadence.drained(model_registers));
	model_set(0x2c, 0x000);
	assert_false(cadence.drained(model_registers));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(takes_its_devices, model_reset),
		cmocka_unit_test_setup(leaves_an_enabled_uart_alone, model_reset),
		cmocka_unit_test_setup(enables_the_transmitter_without_a_reset, model_reset),
		cmocka_unit_test_setup(switches_off_the_disable_that_wins, model_reset),
		cmocka_unit_test_setup(is_ready_unless_full, model_reset),
		cmocka_unit_test_setup(writes_the_byte, model_reset),
		cmocka_unit_test_setup(is_drained_when_empty_and_idle, model_reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

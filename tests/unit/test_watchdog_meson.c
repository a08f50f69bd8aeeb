/* sources: src/drivers/watchdog/watchdog.c */
/*
 * The Meson watchdog's driver, and whoever uses it, against a model of the device: a counter behind
 * a divider, which resets the machine when it gets to its limit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../src/drivers/watchdog/meson.c"

#define XTAL_KHZ UINT64_C(24000)

/* What the linker script does in the image. */
extern const struct watchdog_driver *const watchdog_drivers_start[1];
const struct watchdog_driver *const watchdog_drivers_start[1] = {&meson};
__asm__(".global watchdog_drivers_end\n\t.set watchdog_drivers_end, watchdog_drivers_start + 8");

static struct {
	uint32_t control;
	uint32_t limit;
	uint64_t cycles; /* of the crystal, counted */
	bool reset;
} model;

static volatile uint32_t registers[4];

static void check(void)
{
	uint64_t divider = model.control & 0x3ffff;

	if ((model.control & 1U << 18) != 0 && divider > 0 &&
	    model.cycles / divider >= model.limit) {
		/* The clock and its divider run, and at least one of the resets is wired up. */
		assert_int_equal(model.control >> 24 & 3, 3);
		assert_int_not_equal(model.control >> 21 & 3, 0);
		model.reset = true;
	}
}

void write32(volatile void *base, uint32_t offset, uint32_t value)
{
	assert_ptr_equal(base, registers);
	switch (offset) {
	case 0x0:
		model.control = value;
		break;
	case 0x8:
		assert_in_range(value, 1, 0xffff);
		model.limit = value;
		break;
	case 0xc:
		model.cycles = 0;
		break;
	default:
		fail();
	}
	check();
}

/* True if the machine is reset within so many milliseconds. */
static bool resets_within(uint32_t milliseconds)
{
	model.cycles += milliseconds * XTAL_KHZ;
	check();
	return model.reset;
}

static int set_up(void **state)
{
	(void)state;
	watchdog_stop();
	model.control = 0;
	model.limit = 0;
	model.cycles = UINT64_C(1) << 40; /* whatever it counted before */
	model.reset = false;
	return 0;
}

static void resets_when_the_time_is_over(void **state)
{
	static const uint32_t times[] = {1, 10, 12345, 655350};

	(void)state;
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		(void)set_up(NULL);
		meson.arm(registers, times[i]);
		assert_false(model.reset);
		assert_false(resets_within(times[i] - 1));
		assert_true(resets_within(11));
	}
}

static void waits_as_long_as_it_says(void **state)
{
	(void)state;
	assert_int_equal(meson.max_ms, 655350);
	meson.arm(registers, meson.max_ms);
	assert_false(resets_within(meson.max_ms - 10));
}

static void starts_anew_when_armed_again(void **state)
{
	(void)state;
	meson.arm(registers, 60000);
	assert_false(resets_within(59000));
	meson.arm(registers, 2000);
	assert_false(resets_within(1900));
	meson.arm(registers, 90000);
	assert_false(resets_within(89000));
	assert_true(resets_within(2000));
}

static void never_resets_once_stopped(void **state)
{
	(void)state;
	meson.arm(registers, 1000);
	meson.stop(registers);
	assert_false(resets_within(10000000));
}

static void the_one_in_use_is_kicked_for_its_usual_time(void **state)
{
	(void)state;
	assert_ptr_equal(watchdog_driver(0), &meson);
	assert_null(watchdog_driver(1));
	watchdog_start(&meson, registers, 60000);
	assert_int_equal(watchdog_max_ms(), 655350);
	assert_false(resets_within(59000));
	watchdog_kick();
	assert_false(resets_within(59000));
	watchdog_arm(200000);
	assert_false(resets_within(199000));
	watchdog_kick();
	assert_true(resets_within(60010));
}

static void a_longer_usual_time_than_it_can_wait_is_cut(void **state)
{
	(void)state;
	watchdog_start(&meson, registers, 700000);
	assert_false(resets_within(655000));
	assert_true(resets_within(1000));
}

static void without_one_nothing_happens(void **state)
{
	(void)state;
	watchdog_kick();
	watchdog_arm(10);
	assert_int_equal(watchdog_max_ms(), 0);
	assert_int_equal(model.control, 0);
	watchdog_start(&meson, registers, 60000);
	watchdog_stop();
	watchdog_kick();
	assert_int_equal(watchdog_max_ms(), 0);
	assert_false(resets_within(10000000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(resets_when_the_time_is_over, set_up),
		cmocka_unit_test_setup(waits_as_long_as_it_says, set_up),
		cmocka_unit_test_setup(starts_anew_when_armed_again, set_up),
		cmocka_unit_test_setup(never_resets_once_stopped, set_up),
		cmocka_unit_test_setup(the_one_in_use_is_kicked_for_its_usual_time, set_up),
		cmocka_unit_test_setup(a_longer_usual_time_than_it_can_wait_is_cut, set_up),
		cmocka_unit_test_setup(without_one_nothing_happens, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

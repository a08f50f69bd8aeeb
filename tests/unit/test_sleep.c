/* sources: src/smp/sleep.c src/smp/poll.c */
/*
 * Sleeping until another core says so: no wake-up is lost between check and WFI, the timer bounds
 * the sleep, and everything is as before afterwards.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "el1bench/barrier.h"
#include "el1bench/counter.h"
#include "el1bench/gic.h"
#include "el1bench/platform.h"
#include "el1bench/sleep.h"
#include "el1bench/sysreg.h"

#define TIMER 30

struct platform platform;
const struct gic_operations *gic;

static volatile uint64_t word;
static uint64_t now;
static uint64_t timer_control;
static uint64_t timer_at;
static uint32_t enabled;
static gic_handler handler;
static bool masked;
static uint32_t sleeps;
static uint32_t yields;
static uint32_t sleeps_until_word; /* the word comes in that WFI; 0: never */

uint64_t fake_counter(void)
{
	return ++now;
}

uint64_t fake_sysreg_read(const char *name)
{
	fail_msg("read of %s", name);
	return 0;
}

void fake_sysreg_write(const char *name, uint64_t value)
{
	if (strcmp(name, "cntp_cval_el0") == 0) {
		timer_at = value;
	} else {
		assert_string_equal(name, "cntp_ctl_el0");
		timer_control = value;
	}
}

void gic_set_handler(uint32_t intid, gic_handler new_handler)
{
	assert_int_equal(intid, TIMER);
	handler = new_handler;
}

static void enable(uint32_t intid)
{
	enabled = intid;
}

/* WFI: until the word comes, or the timer's time. */
static void fake_sleep(void)
{
	assert_true(masked); /* or a wake-up between the check and here would be lost */
	assert_int_equal(timer_control, 1);
	sleeps++;
	if (sleeps == sleeps_until_word) {
		word = 7;
	} else {
		now = timer_at;
	}
}

void fake_barrier(const char *name)
{
	if (strcmp(name, "wfi") == 0) {
		fake_sleep();
	} else if (strcmp(name, "irq_mask") == 0) {
		masked = true;
	} else if (strcmp(name, "irq_unmask") == 0) {
		masked = false;
		if (timer_control != 0 && now >= timer_at) {
			handler(TIMER, 0, now);
			assert_int_equal(timer_control, 0); /* its line would stay up */
		}
	} else if (strcmp(name, "cpu_yield") == 0) {
		assert_false(masked);
		yields++;
	}
}

static int reset(void **state)
{
	static const struct gic_operations operations = {.enable = enable};

	(void)state;
	gic = &operations;
	platform.timer_intid = TIMER;
	word = 0;
	now = 0;
	timer_control = 0;
	enabled = 0;
	handler = NULL;
	masked = false;
	sleeps = 0;
	yields = 0;
	sleeps_until_word = 0;
	sleep_prepare();
	return 0;
}

static void assert_as_before(void)
{
	assert_false(masked);
	assert_int_equal(timer_control, 0);
}

static void what_is_there_needs_no_sleep(void **state)
{
	(void)state;
	assert_int_equal(enabled, TIMER);
	word = 7;
	assert_true(sleep_until(&word, 7, 10));
	assert_int_equal(sleeps, 0);
	assert_as_before();
}

static void the_word_ends_it(void **state)
{
	(void)state;
	sleeps_until_word = 1;
	assert_true(sleep_until(&word, 7, 10));
	assert_int_equal(sleeps, 1);
	assert_int_equal(yields, 0);
	assert_as_before();
}

static void the_timer_ends_it(void **state)
{
	(void)state;
	assert_false(sleep_until(&word, 7, 10));
	assert_int_equal(sleeps, 1);
	assert_as_before();
}

static void without_a_timer_it_polls(void **state)
{
	(void)state;
	platform.timer_intid = 0;
	assert_false(sleep_until(&word, 7, 1));
	assert_int_equal(sleeps, 0);
	assert_true(yields > 0);
	word = 7;
	assert_true(sleep_until(&word, 7, 1));
	platform.timer_intid = GIC_INTID_COUNT;
	assert_true(sleep_until(&word, 7, 1));
	assert_as_before();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(what_is_there_needs_no_sleep, reset),
		cmocka_unit_test_setup(the_word_ends_it, reset),
		cmocka_unit_test_setup(the_timer_ends_it, reset),
		cmocka_unit_test_setup(without_a_timer_it_polls, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

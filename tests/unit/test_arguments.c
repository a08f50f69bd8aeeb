/* sources: src/platform/arguments.c src/platform/factors.c src/bench/random.c */
/*
 * Boot arguments: what is obeyed, what is refused and with which words, what is left to others.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "el1bench/arguments.h"
#include "el1bench/random.h"

static struct arguments arguments;

static void parse(const char *text)
{
	arguments_defaults(&arguments);
	arguments_parse(&arguments, text);
}

static void expect_refused(const char *text, const char *refusal)
{
	parse(text);
	assert_true(arguments.refused);
	assert_string_equal(arguments.refusal, refusal);
}

static void nothing_gives_the_defaults(void **state)
{
	(void)state;
	parse("");
	assert_false(arguments.refused);
	assert_string_equal(arguments.suites, "");
	assert_string_equal(arguments.text, "");
	assert_int_equal(arguments.samples, 1000);
	assert_int_equal(arguments.warmup, 16);
	assert_int_equal(arguments.batch, 0);
	assert_int_equal(arguments.seed, 1);
	assert_int_equal(arguments.boot, 0);
	assert_true(arguments.dump_raw);
	assert_false(arguments.on_exit_given);
}

static void every_key(void **state)
{
	(void)state;
	parse("  el1bench.suite=ipi,psci.version el1bench.samples=2000\tel1bench.warmup=0"
	      " el1bench.seed=0xffffffffffffffff el1bench.boot=3 el1bench.dump=summary\n"
	      " el1bench.on_exit=semihost el1bench.emulated=qemu-7.2-single ");
	assert_false(arguments.refused);
	assert_string_equal(arguments.suites, "ipi,psci.version");
	assert_int_equal(arguments.samples, 2000);
	assert_int_equal(arguments.warmup, 0);
	assert_true(arguments.seed == UINT64_MAX);
	assert_int_equal(arguments.boot, 3);
	assert_false(arguments.dump_raw);
	assert_true(arguments.on_exit_given);
	assert_int_equal(arguments.on_exit, ON_EXIT_SEMIHOST);
	assert_string_equal(arguments.emulated, "qemu-7.2-single");
	assert_string_equal(arguments.ignored, "");
	assert_string_equal(
		arguments.text,
		"el1bench.suite=ipi,psci.version el1bench.samples=2000 el1bench.warmup=0"
		" el1bench.seed=0xffffffffffffffff el1bench.boot=3 el1bench.dump=summary"
		" el1bench.on_exit=semihost el1bench.emulated=qemu-7.2-single");
}

static void samples_as_many_as_it_takes(void **state)
{
	static const struct {
		const char *text;
		uint32_t ppm;
	} values[] = {
		{"el1bench.ci=1%", 10000},        {"el1bench.ci=0.25%", 2500},
		{"el1bench.ci=0.01%", 100},       {"el1bench.ci=50%", 500000},
		{"el1bench.ci=12.3456%", 123456}, {"el1bench.ci=2.%", 20000},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		arguments_defaults(&arguments);
		assert_int_equal(arguments.ci_ppm, 0);
		parse(values[i].text);
		assert_false(arguments.refused);
		assert_int_equal(arguments.ci_ppm, values[i].ppm);
	}
	parse("el1bench.samples=auto el1bench.batch=64");
	assert_false(arguments.refused);
	assert_true(arguments.samples_auto);
	assert_int_equal(arguments.batch, 64);
	parse("el1bench.samples=7");
	assert_false(arguments.samples_auto);
}

static void the_last_of_a_key_counts(void **state)
{
	(void)state;
	parse("el1bench.samples=1 el1bench.samples=2");
	arguments_parse(&arguments, "el1bench.seed=9");
	assert_int_equal(arguments.samples, 2);
	assert_int_equal(arguments.seed, 9);
	assert_string_equal(arguments.text,
			    "el1bench.samples=1 el1bench.samples=2 el1bench.seed=9");
}

static void the_line_and_the_clock(void **state)
{
	(void)state;
	parse("");
	assert_int_equal(arguments.pace, 0);
	assert_int_equal(arguments.clock_ms, 700);
	assert_int_equal(arguments.baud, 0);
	parse("el1bench.pace=115200 el1bench.clock_ms=0 el1bench.baud=921600");
	assert_false(arguments.refused);
	assert_int_equal(arguments.baud, 921600);
	assert_int_equal(arguments.pace, 115200);
	assert_int_equal(arguments.clock_ms, 0);
}

static void foreign_words_are_listed(void **state)
{
	(void)state;
	parse("console=ttyAML0 el1bench.samples=5 quiet \x01\xff el1benchx=1 EL1BENCH.samples=0");
	assert_false(arguments.refused);
	assert_int_equal(arguments.samples, 5);
	assert_string_equal(arguments.ignored,
			    "console=ttyAML0 quiet ?? el1benchx=1 EL1BENCH.samples=0");
}

static void bad_words_are_refused_by_name(void **state)
{
	(void)state;
	expect_refused("el1bench.sampels=5", "el1bench.sampels=5: unknown argument");
	expect_refused("el1bench.", "el1bench.: unknown argument");
	expect_refused("el1bench.samples", "el1bench.samples: needs a value");
	expect_refused("el1bench.samples=0",
		       "el1bench.samples=0: needs auto or a number from 1 to 100000000");
	expect_refused("el1bench.samples=100000001",
		       "el1bench.samples=100000001: needs auto or a number from 1 to 100000000");
	expect_refused("el1bench.samples=",
		       "el1bench.samples=: needs auto or a number from 1 to 100000000");
	expect_refused("el1bench.samples=-1",
		       "el1bench.samples=-1: needs auto or a number from 1 to 100000000");
	expect_refused("el1bench.samples=1k",
		       "el1bench.samples=1k: needs auto or a number from 1 to 100000000");
	expect_refused(
		"el1bench.samples=18446744073709551617",
		"el1bench.samples=18446744073709551617: needs auto or a number from 1 to 100000000");
	expect_refused("el1bench.seed=0x10000000000000000",
		       "el1bench.seed=0x10000000000000000: needs a number of 64 bits");
	expect_refused("el1bench.ci=1", "el1bench.ci=1: needs per cent from 0.01% to 50%");
	expect_refused("el1bench.ci=0.009%",
		       "el1bench.ci=0.009%: needs per cent from 0.01% to 50%");
	expect_refused("el1bench.ci=50.0001%",
		       "el1bench.ci=50.0001%: needs per cent from 0.01% to 50%");
	expect_refused("el1bench.ci=99999999999%",
		       "el1bench.ci=99999999999%: needs per cent from 0.01% to 50%");
	expect_refused("el1bench.ci=1.2.3%",
		       "el1bench.ci=1.2.3%: needs per cent from 0.01% to 50%");
	expect_refused("el1bench.ci=", "el1bench.ci=: needs per cent from 0.01% to 50%");
	expect_refused("el1bench.samples=Auto",
		       "el1bench.samples=Auto: needs auto or a number from 1 to 100000000");
	expect_refused("el1bench.power_state=",
		       "el1bench.power_state=: needs one to three numbers of "
		       "32 bits, separated by commas");
	expect_refused("el1bench.power_state=1,", "el1bench.power_state=1,: needs one to three "
						  "numbers of 32 bits, separated by commas");
	expect_refused("el1bench.power_state=0x100000000",
		       "el1bench.power_state=0x100000000: needs one to three numbers of 32 bits, "
		       "separated by commas");
	expect_refused("el1bench.power_state=1,2,3,4",
		       "el1bench.power_state=1,2,3,4: needs one to three numbers of 32 bits, "
		       "separated by commas");
	expect_refused("el1bench.sleep_us=49", "el1bench.sleep_us=49: needs a number from 50 to "
					       "1000000");
	expect_refused("el1bench.wake=alarm", "el1bench.wake=alarm: needs timer or sgi");
	expect_refused("el1bench.rt_instr=1", "el1bench.rt_instr=1: needs on or off");
	expect_refused("el1bench.watchdog=60", "el1bench.watchdog=60: needs on or off");
	expect_refused("el1bench.batch=0", "el1bench.batch=0: needs a number from 1 to 65536");
	expect_refused("el1bench.batch=65537",
		       "el1bench.batch=65537: needs a number from 1 to 65536");
	expect_refused("el1bench.warmup=1000001",
		       "el1bench.warmup=1000001: needs a number from 0 to 1000000");
	expect_refused("el1bench.boot=4294967296",
		       "el1bench.boot=4294967296: needs a number from 0 to 4294967295");
	expect_refused("el1bench.pace=299",
		       "el1bench.pace=299: needs a baud rate from 300 to 4000000");
	expect_refused("el1bench.pace=4000001",
		       "el1bench.pace=4000001: needs a baud rate from 300 to 4000000");
	expect_refused("el1bench.baud=9599",
		       "el1bench.baud=9599: needs a baud rate from 9600 to 4000000");
	expect_refused("el1bench.clock_ms=600001",
		       "el1bench.clock_ms=600001: needs a number from 0 to 600000");
	expect_refused("el1bench.dump=all", "el1bench.dump=all: needs raw or summary");
	expect_refused("el1bench.on_exit=x",
		       "el1bench.on_exit=x: needs off, reset, halt or semihost");
	expect_refused("el1bench.suite=", "el1bench.suite=: needs comma-separated names");
	expect_refused("el1bench.suite=a,,b", "el1bench.suite=a,,b: needs comma-separated names");
	expect_refused("el1bench.suite=a,", "el1bench.suite=a,: needs comma-separated names");
	expect_refused("el1bench.suite=A", "el1bench.suite=A: needs comma-separated names");
	expect_refused("el1bench.emulated=",
		       "el1bench.emulated=: needs a text of 1 to 63 characters");
	expect_refused("el1bench.emulated=a\x07", "el1bench.emulated=a?: unprintable characters");
}

/* So that a refused run still ends as it was told to. */
static void words_after_a_bad_one_are_obeyed(void **state)
{
	(void)state;
	expect_refused("el1bench.a=1 el1bench.b=2 el1bench.on_exit=semihost",
		       "el1bench.a=1: unknown argument");
	assert_int_equal(arguments.on_exit, ON_EXIT_SEMIHOST);
}

static void factors_pairs_and_the_budget(void **state)
{
	(void)state;
	arguments_defaults(&arguments);
	assert_int_equal(arguments.budget_ms, 10000);
	assert_int_equal(factors_count(&arguments.factors), 1);
	arguments_parse(&arguments, "el1bench.receiver=wfi,spin el1bench.payload=8 "
				    "el1bench.pair=0>1 el1bench.budget=250");
	assert_false(arguments.refused);
	assert_int_equal(factors_count(&arguments.factors), 2);
	assert_true(pairs_select(&arguments.pairs, 0, 1));
	assert_false(pairs_select(&arguments.pairs, 1, 0));
	assert_int_equal(arguments.budget_ms, 250);
	expect_refused("el1bench.receiver", "el1bench.receiver: needs a value");
	expect_refused("el1bench.receiver=sleep",
		       "el1bench.receiver=sleep: needs spin, wfe, wfi or busy, comma-separated, "
		       "each once");
	expect_refused("el1bench.payload=0", "el1bench.payload=0: needs none or 1 to 64 cache "
					     "lines, comma-separated, each once");
	expect_refused("el1bench.receivers=wfi", "el1bench.receivers=wfi: unknown argument");
	expect_refused("el1bench.pair=0>0", "el1bench.pair=0>0: needs up to 32 pairs of two "
					    "different cores, as in 0>3,1>*");
	expect_refused("el1bench.budget=0",
		       "el1bench.budget=0: needs milliseconds from 1 to 86400000");
	expect_refused("el1bench.barrier=none el1bench.payload=1",
		       "boot arguments: barrier=none takes payload=none: the receiver could miss "
		       "what was stored");
}

static void long_texts(void **state)
{
	char text[4096];

	(void)state;
	memset(text, 'x', sizeof(text));
	text[ARGUMENTS_TEXT_BYTES - 1] = '\0';
	parse(text);
	assert_false(arguments.refused);
	assert_int_equal(strlen(arguments.ignored), sizeof(arguments.ignored) - 1);
	text[ARGUMENTS_TEXT_BYTES - 1] = 'x';
	text[ARGUMENTS_TEXT_BYTES] = '\0';
	expect_refused(text, "boot arguments: longer than 2047 characters");

	memcpy(text, "el1bench.", 9);
	text[1000] = '\0';
	parse(text);
	assert_true(arguments.refused);
	assert_true(strlen(arguments.refusal) < sizeof(arguments.refusal));
}

static void selection_is_by_suite_or_full_name(void **state)
{
	(void)state;
	parse("");
	assert_true(arguments_selects(&arguments, "ipi.normal"));
	parse("el1bench.suite=clock,ipi.normal");
	assert_true(arguments_selects(&arguments, "clock.floor"));
	assert_true(arguments_selects(&arguments, "ipi.normal"));
	assert_false(arguments_selects(&arguments, "ipi.norma"));
	assert_false(arguments_selects(&arguments, "ipi.normal2"));
	assert_false(arguments_selects(&arguments, "ipi.self"));
	assert_false(arguments_selects(&arguments, "clocks.floor"));
	assert_false(arguments_selects(&arguments, "cloc.floor"));
}

/* Random bytes and pieces of real words: no crash, and results within their ranges. */
static void fuzz(void **state)
{
	static const char *const pieces[] = {"el1bench.", "suite=",    "samples=",  "seed=",
					     "on_exit=",  "dump=",     "raw",       " ",
					     "0x",        "999999999", "semihost",  ",",
					     "=",         "\t",        "emulated=", "ipi"};
	struct random_state random;

	(void)state;
	random_seed(&random, 3);
	for (int i = 0; i < 50000; i++) {
		char *text = calloc(1, 3000);
		uint32_t parts = random_below(&random, 120);

		for (uint32_t k = 0; k < parts; k++) {
			size_t used = strlen(text);

			if (random_below(&random, 4) == 0) {
				text[used] = (char)random_next(&random);
			} else {
				strcpy(text + used, pieces[random_below(&random, 16)]);
			}
		}
		parse(text);
		free(text);
		assert_true(arguments.samples >= 1 && arguments.samples <= ARGUMENTS_SAMPLES_MAX);
		assert_true(arguments.warmup <= 1000000);
		assert_true(arguments.on_exit <= ON_EXIT_SEMIHOST);
		assert_true(arguments.refused == (arguments.refusal[0] != '\0'));
		assert_non_null(memchr(arguments.ignored, '\0', sizeof(arguments.ignored)));
		assert_non_null(memchr(arguments.text, '\0', sizeof(arguments.text)));
		(void)arguments_selects(&arguments, "ipi.normal");
	}
}

static void power_states_are_a_list(void **state)
{
	(void)state;
	arguments_defaults(&arguments);
	assert_int_equal(arguments.power_state_count, 0);
	assert_false(arguments.samples_given);
	arguments_parse(&arguments, "el1bench.power_state=1,0x10002,16842786 el1bench.wake=sgi "
				    "el1bench.samples=1000 el1bench.sleep_us=50");
	assert_false(arguments.refused);
	assert_int_equal(arguments.power_state_count, 3);
	assert_int_equal(arguments.power_states[0], 1);
	assert_int_equal(arguments.power_states[1], 0x10002);
	assert_int_equal(arguments.power_states[2], 0x1010022);
	assert_int_equal(arguments.wake, WAKE_SGI);
	assert_int_equal(arguments.sleep_us, 50);
	assert_true(arguments.samples_given);
}

static void lines_for_test_farms_are_asked_for(void **state)
{
	(void)state;
	arguments_defaults(&arguments);
	assert_false(arguments.rt_instr);
	arguments_parse(&arguments, "el1bench.rt_instr=on");
	assert_true(arguments.rt_instr);
	arguments_parse(&arguments, "el1bench.rt_instr=off");
	assert_false(arguments.refused || arguments.rt_instr);
	assert_false(arguments.watchdog);
	arguments_parse(&arguments, "el1bench.watchdog=on");
	assert_true(arguments.watchdog);
	arguments_parse(&arguments, "el1bench.watchdog=off");
	assert_false(arguments.refused || arguments.watchdog);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(power_states_are_a_list),
		cmocka_unit_test(lines_for_test_farms_are_asked_for),
		cmocka_unit_test(nothing_gives_the_defaults),
		cmocka_unit_test(every_key),
		cmocka_unit_test(samples_as_many_as_it_takes),
		cmocka_unit_test(the_last_of_a_key_counts),
		cmocka_unit_test(the_line_and_the_clock),
		cmocka_unit_test(foreign_words_are_listed),
		cmocka_unit_test(bad_words_are_refused_by_name),
		cmocka_unit_test(words_after_a_bad_one_are_obeyed),
		cmocka_unit_test(factors_pairs_and_the_budget),
		cmocka_unit_test(long_texts),
		cmocka_unit_test(selection_is_by_suite_or_full_name),
		cmocka_unit_test(fuzz),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* sources: src/platform/factors.c */
/*
 * Factors and pairs: what a list means, and that nothing else is taken for one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "el1bench/factors.h"
#include "el1bench/gic.h"

static void without_arguments_there_is_one_plain_combination(void **state)
{
	struct factor_lists lists = {0};
	struct factor_set set = factors_get(&lists, 0);
	char text[FACTOR_TEXT_BYTES];

	(void)state;
	assert_int_equal(factors_count(&lists), 1);
	assert_null(factors_conflict(&lists));
	assert_null(factors_describe(&lists, &set, text));
	assert_int_equal(set.values[FACTOR_RECEIVER], RECEIVER_SPIN);
	assert_int_equal(set.values[FACTOR_PAYLOAD], 0);
	assert_int_equal(set.values[FACTOR_BARRIER], GIC_BARRIER_ISHST);
}

static void lists_make_the_cross_product(void **state)
{
	static const char *const expected[] = {
		"receiver=wfi,payload=none,load=memory",
		"receiver=wfi,payload=64,load=memory",
		"receiver=spin,payload=none,load=memory",
		"receiver=spin,payload=64,load=memory",
	};
	struct factor_lists lists = {0};

	(void)state;
	assert_null(factor_parse(&lists, FACTOR_RECEIVER, "wfi,spin"));
	assert_null(factor_parse(&lists, FACTOR_PAYLOAD, "none,64"));
	assert_null(factor_parse(&lists, FACTOR_LOAD, "memory"));
	assert_int_equal(factors_count(&lists), 4);
	for (uint32_t i = 0; i < 4; i++) {
		struct factor_set set = factors_get(&lists, i);
		char text[FACTOR_TEXT_BYTES];

		assert_string_equal(factors_describe(&lists, &set, text), expected[i]);
		assert_int_equal(set.values[FACTOR_LOAD], LOAD_MEMORY);
		assert_int_equal(set.values[FACTOR_CACHE], CACHE_WARM);
	}
}

static void the_longest_text_fits(void **state)
{
	struct factor_lists lists = {0};
	struct factor_set set;
	char text[FACTOR_TEXT_BYTES];

	(void)state;
	assert_null(factor_parse(&lists, FACTOR_RECEIVER, "busy"));
	assert_null(factor_parse(&lists, FACTOR_PAYLOAD, "none"));
	assert_null(factor_parse(&lists, FACTOR_CACHE, "cold"));
	assert_null(factor_parse(&lists, FACTOR_LOAD, "memory"));
	assert_null(factor_parse(&lists, FACTOR_BARRIER, "ishst"));
	set = factors_get(&lists, 0);
	assert_string_equal(factors_describe(&lists, &set, text),
			    "receiver=busy,payload=none,cache=cold,load=memory,barrier=ishst");
}

static void values_are_those_that_the_driver_knows(void **state)
{
	struct factor_lists lists = {0};

	(void)state;
	assert_null(factor_parse(&lists, FACTOR_BARRIER, "none,sy,ishst"));
	assert_int_equal(lists.of[FACTOR_BARRIER].values[0], GIC_BARRIER_NONE);
	assert_int_equal(lists.of[FACTOR_BARRIER].values[1], GIC_BARRIER_SY);
	assert_int_equal(lists.of[FACTOR_BARRIER].values[2], GIC_BARRIER_ISHST);
}

static void refuses_what_is_no_list_of_values(void **state)
{
	static const struct {
		enum factor factor;
		const char *text;
	} bad[] = {
		{FACTOR_RECEIVER, ""},
		{FACTOR_RECEIVER, "sleep"},
		{FACTOR_RECEIVER, "spin,"},
		{FACTOR_RECEIVER, ",spin"},
		{FACTOR_RECEIVER, "spin spin"},
		{FACTOR_RECEIVER, "spin,spin"},
		{FACTOR_RECEIVER, "spi"},
		{FACTOR_RECEIVER, "spinn"},
		{FACTOR_RECEIVER, "0"},
		{FACTOR_PAYLOAD, "0"},
		{FACTOR_PAYLOAD, "65"},
		{FACTOR_PAYLOAD, "-1"},
		{FACTOR_PAYLOAD, "8k"},
		{FACTOR_PAYLOAD, "4294967297"},
		{FACTOR_PAYLOAD, "1,2,3,4,5,6,7,8,9"},
		{FACTOR_CACHE, "hot"},
		{FACTOR_LOAD, "cpu"},
		{FACTOR_BARRIER, "dmb"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct factor_lists lists = {0};

		assert_non_null(factor_parse(&lists, bad[i].factor, bad[i].text));
	}
}

static void refuses_what_does_not_go_together(void **state)
{
	struct factor_lists lists = {0};

	(void)state;
	assert_null(factor_parse(&lists, FACTOR_BARRIER, "ishst,none"));
	assert_null(factors_conflict(&lists));
	assert_null(factor_parse(&lists, FACTOR_PAYLOAD, "none,1"));
	assert_non_null(factors_conflict(&lists));
	assert_null(factor_parse(&lists, FACTOR_BARRIER, "ishst,sy"));
	assert_null(factors_conflict(&lists));
	assert_null(factor_parse(&lists, FACTOR_PAYLOAD, "none,1,2,3,4,5,6,7"));
	assert_null(factor_parse(&lists, FACTOR_RECEIVER, "spin,wfe,wfi,busy"));
	assert_int_equal(factors_count(&lists), 64);
	assert_null(factors_conflict(&lists));
	assert_null(factor_parse(&lists, FACTOR_CACHE, "warm,cold"));
	assert_non_null(factors_conflict(&lists));
}

static void pairs_by_name_and_by_star(void **state)
{
	struct pair_list list = {0};

	(void)state;
	assert_true(pairs_select(&list, 5, 7));
	assert_null(pairs_parse(&list, "0>3,*>2,63>*"));
	assert_true(pairs_select(&list, 0, 3));
	assert_false(pairs_select(&list, 3, 0));
	assert_true(pairs_select(&list, 9, 2));
	assert_true(pairs_select(&list, 63, 1));
	assert_false(pairs_select(&list, 1, 4));
}

static void refuses_what_is_no_pair(void **state)
{
	static const char *const bad[] = {"",     "0",    "0>",  ">1",    "0>1,",    "0-1", "1>1",
					  "64>0", "0>64", "a>b", "0>1>2", "0>1;2>3", "**>1"};
	struct pair_list list;
	char many[256] = "";

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_non_null(pairs_parse(&list, bad[i]));
	}
	for (uint32_t i = 0; i < PAIRS_MAX; i++) {
		strcat(many, i == 0 ? "0>1" : ",0>1");
	}
	assert_null(pairs_parse(&list, many));
	strcat(many, ",0>1");
	assert_non_null(pairs_parse(&list, many));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_arguments_there_is_one_plain_combination),
		cmocka_unit_test(lists_make_the_cross_product),
		cmocka_unit_test(the_longest_text_fits),
		cmocka_unit_test(values_are_those_that_the_driver_knows),
		cmocka_unit_test(refuses_what_is_no_list_of_values),
		cmocka_unit_test(refuses_what_does_not_go_together),
		cmocka_unit_test(pairs_by_name_and_by_star),
		cmocka_unit_test(refuses_what_is_no_pair),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* sources: src/platform/idle_states.c src/platform/tree.c */
/*
 * Power states: from a tree, one by one, and from trees that are wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "el1bench/idle_states.h"
#include "trees.h"

static struct idle_states states;

static struct test_tree tree;

static uint32_t read_more(const char *nodes, bool extended)
{
	char source[2048];

	tree_free(&tree);
	(void)snprintf(source, sizeof(source), "/ { cpus { %s }; };", nodes);
	tree = tree_from_source(source);
	return idle_states_read(tree.blob, extended, &states);
}

static uint32_t read_tree(const char *nodes, bool extended)
{
	states = (struct idle_states){0};
	return read_more(nodes, extended);
}

static void by_type_and_order(void **state)
{
	(void)state;
	assert_int_equal(read_tree("idle-states { a { arm,psci-suspend-param = <1>; };"
				   "b { arm,psci-suspend-param = <0x10002>; local-timer-stop; };"
				   "c { arm,psci-suspend-param = <0x1010022>; };"
				   "d { arm,psci-suspend-param = <0x2010222>; }; };",
				   false),
			 4);
	assert_true(states.kinds[IDLE_STANDBY].present);
	assert_int_equal(states.kinds[IDLE_STANDBY].power_state, 1);
	assert_false(states.kinds[IDLE_STANDBY].timer_stops);
	assert_int_equal(states.kinds[IDLE_CORE].power_state, 0x10002);
	assert_true(states.kinds[IDLE_CORE].timer_stops);
	assert_int_equal(states.kinds[IDLE_DEEPEST].power_state, 0x2010222);
}

static void the_extended_format_has_the_type_elsewhere(void **state)
{
	(void)state;
	assert_int_equal(read_tree("idle-states { a { arm,psci-suspend-param = <0x10000>; };"
				   "b { arm,psci-suspend-param = <0x40000002>; }; };",
				   true),
			 2);
	assert_int_equal(states.kinds[IDLE_STANDBY].power_state, 0x10000);
	assert_int_equal(states.kinds[IDLE_CORE].power_state, 0x40000002);
	assert_false(states.kinds[IDLE_DEEPEST].present);
}

static void assert_claims(enum idle_kind kind, const char *name, uint32_t entry, uint32_t exit,
			  uint32_t wakeup, uint32_t min_residency)
{
	const struct idle_state *claimed = &states.kinds[kind];

	assert_ptr_equal(claimed->tree, tree.blob);
	assert_string_equal(claimed->name, name);
	assert_int_equal(claimed->claims[IDLE_ENTRY], entry);
	assert_int_equal(claimed->claims[IDLE_EXIT], exit);
	assert_int_equal(claimed->claims[IDLE_WAKEUP], wakeup);
	assert_int_equal(claimed->claims[IDLE_MIN_RESIDENCY], min_residency);
}

static void what_a_tree_claims(void **state)
{
	(void)state;
	assert_int_equal(read_tree("idle-states { cpu-a { arm,psci-suspend-param = <1>;"
				   "entry-latency-us = <0>; exit-latency-us = <7>; };"
				   "b { arm,psci-suspend-param = <0x10002>;"
				   "entry-latency-us = <100>; exit-latency-us = <200>;"
				   "wakeup-latency-us = <250>; min-residency-us = <4000>; }; };",
				   false),
			 2);
	assert_claims(IDLE_STANDBY, "cpu-a", 0, 7, UINT32_MAX, UINT32_MAX);
	assert_claims(IDLE_CORE, "b", 100, 200, 250, 4000);
}

static void claims_that_are_no_numbers(void **state)
{
	(void)state;
	assert_int_equal(read_tree("idle-states { a { arm,psci-suspend-param = <1>;"
				   "entry-latency-us = \"fast\"; exit-latency-us = <1 2>;"
				   "wakeup-latency-us; min-residency-us = <0xfffffffe>; }; };",
				   false),
			 1);
	assert_claims(IDLE_STANDBY, "a", UINT32_MAX, UINT32_MAX, UINT32_MAX, 0xfffffffe);
}

static void states_that_were_given_are_described(void **state)
{
	(void)state;
	states = (struct idle_states){0};
	idle_states_add(&states, 0x10003, false);
	idle_states_add(&states, 0x1010022, false);
	assert_int_equal(read_more("idle-states { a { arm,psci-suspend-param = <1>; };"
				   "b { arm,psci-suspend-param = <0x1010022>; local-timer-stop;"
				   "exit-latency-us = <9>; }; };",
				   false),
			 2);
	assert_false(states.kinds[IDLE_STANDBY].present);
	assert_true(states.kinds[IDLE_CORE].present);
	assert_null(states.kinds[IDLE_CORE].tree);
	assert_false(states.kinds[IDLE_CORE].timer_stops);
	assert_true(states.kinds[IDLE_DEEPEST].timer_stops);
	assert_claims(IDLE_DEEPEST, "b", UINT32_MAX, 9, UINT32_MAX, UINT32_MAX);
}

static void limit_by(const char *property)
{
	char source[256];

	tree_free(&tree);
	(void)snprintf(source, sizeof(source), "/ { psci { %s }; };", property);
	tree = tree_from_source(source);
	states = (struct idle_states){0};
	idle_states_limit(tree.blob, &states);
}

static void states_that_suspend_the_system_are_refused(void **state)
{
	(void)state;
	limit_by("el1bench,system-suspend = <0x3000000 0x2000000>;");
	assert_false(idle_states_refuse(&states, 0));
	assert_false(idle_states_refuse(&states, 0x10000));
	assert_false(idle_states_refuse(&states, 0x1010000));
	assert_true(idle_states_refuse(&states, 0x2010000));
	assert_true(idle_states_refuse(&states, 0x2000000));
	assert_false(idle_states_refuse(&states, 0x3010000)); /* firmware's own business */
	/* The deepest is the deepest of those that are left. */
	assert_int_equal(read_more("idle-states { a { arm,psci-suspend-param = <0x10000>; };"
				   "b { arm,psci-suspend-param = <0x1010000>; };"
				   "c { arm,psci-suspend-param = <0x2010000>; }; };",
				   false),
			 2);
	assert_int_equal(states.kinds[IDLE_DEEPEST].power_state, 0x1010000);
}

static void without_a_limit_all_are_good(void **state)
{
	static const char *const properties[] = {
		"",
		"el1bench,system-suspend;",
		"el1bench,system-suspend = <0x3000000>;",
		"el1bench,system-suspend = <1 2 3>;",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(properties) / sizeof(properties[0]); i++) {
		limit_by(properties[i]);
		assert_false(idle_states_refuse(&states, 0x2010000));
		assert_false(idle_states_refuse(&states, 0));
	}
}

static void what_is_wrong_is_left_out(void **state)
{
	(void)state;
	assert_int_equal(read_tree("", false), 0);
	assert_int_equal(read_tree("idle-states { };", false), 0);
	assert_int_equal(read_tree("idle-states { a { status = \"disabled\";"
				   "arm,psci-suspend-param = <1>; }; b { }; "
				   "c { arm,psci-suspend-param = [01 02]; };"
				   "d { arm,psci-suspend-param = <1 1>; }; };",
				   false),
			 0);
	for (int kind = 0; kind < IDLE_KINDS; kind++) {
		assert_false(states.kinds[kind].present);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_type_and_order),
		cmocka_unit_test(the_extended_format_has_the_type_elsewhere),
		cmocka_unit_test(what_a_tree_claims),
		cmocka_unit_test(claims_that_are_no_numbers),
		cmocka_unit_test(states_that_were_given_are_described),
		cmocka_unit_test(states_that_suspend_the_system_are_refused),
		cmocka_unit_test(without_a_limit_all_are_good),
		cmocka_unit_test(what_is_wrong_is_left_out),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	tree_free(&tree);
	return failed;
}

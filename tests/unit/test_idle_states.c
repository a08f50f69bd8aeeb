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

static uint32_t read_tree(const char *nodes, bool extended)
{
	char source[2048];
	struct test_tree tree;
	uint32_t count;

	(void)snprintf(source, sizeof(source), "/ { cpus { %s }; };", nodes);
	tree = tree_from_source(source);
	states = (struct idle_states){0};
	count = idle_states_read(tree.blob, extended, &states);
	tree_free(&tree);
	return count;
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
		cmocka_unit_test(what_is_wrong_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

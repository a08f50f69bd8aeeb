/* sources: src/platform/tree.c */
/*
 * The tree reader: ranges, status, stdout-path, and content that is meant to lead it astray.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "el1bench/tree.h"
#include "trees.h"

static uint64_t address;
static uint64_t bytes;

static int node_at(const struct test_tree *tree, const char *path)
{
	int node = fdt_path_offset(tree->blob, path);

	assert_true(node >= 0);
	return node;
}

static bool reg_of(const struct test_tree *tree, const char *path, unsigned int index)
{
	return tree_reg(tree->blob, node_at(tree, path), index, &address, &bytes);
}

static void reg_goes_through_ranges(void **state)
{
	struct test_tree tree = tree_from_source(
		"/ { #address-cells = <2>; #size-cells = <2>;"
		"    plain@1000 { reg = <0 0x1000 0 0x10>, <1 0 0 0x20>; };"
		"    soc { #address-cells = <1>; #size-cells = <1>;"
		"      ranges = <0x0 0xf 0xff000000 0x100000>, <0x800000 0x1 0x0 0x1000>;"
		"      bus { #address-cells = <1>; #size-cells = <1>; ranges = <0x0 0x80000 0x10000>;"
		"        serial@3000 { reg = <0x3000 0x18>; };"
		"        beyond@ffff { reg = <0xffff 0x2>; };"
		"        edge@fffe { reg = <0xfffe 0x2>; }; };"
		"      same { #address-cells = <1>; #size-cells = <1>; ranges;"
		"        second@800010 { reg = <0x800010 0x10>; }; };"
		"      closed { #address-cells = <1>; #size-cells = <1>;"
		"        lost@0 { reg = <0x0 0x10>; }; }; }; };");

	(void)state;
	assert_true(tree_valid(tree.blob, tree.bytes));
	assert_true(reg_of(&tree, "/plain@1000", 0));
	assert_int_equal(address, 0x1000);
	assert_int_equal(bytes, 0x10);
	assert_true(reg_of(&tree, "/plain@1000", 1));
	assert_int_equal(address, UINT64_C(0x100000000));
	assert_false(reg_of(&tree, "/plain@1000", 2));
	assert_false(reg_of(&tree, "/plain@1000", UINT32_MAX));
	assert_true(reg_of(&tree, "/soc/bus/serial@3000", 0));
	assert_int_equal(address, UINT64_C(0xfff083000));
	assert_int_equal(bytes, 0x18);
	assert_true(reg_of(&tree, "/soc/bus/edge@fffe", 0));
	assert_false(reg_of(&tree, "/soc/bus/beyond@ffff", 0));
	assert_true(reg_of(&tree, "/soc/same/second@800010", 0));
	assert_int_equal(address, UINT64_C(0x100000010));
	assert_false(reg_of(&tree, "/soc/closed/lost@0", 0));
	assert_false(reg_of(&tree, "/soc", 0));
	assert_false(reg_of(&tree, "/", 0));
	tree_free(&tree);
}

static void reg_that_wraps_or_is_too_wide_is_refused(void **state)
{
	struct test_tree tree = tree_from_source(
		"/ { #address-cells = <2>; #size-cells = <2>;"
		"    high@0 { reg = <0xffffffff 0xfffff000 0 0x2000>; };"
		"    short@0 { reg = <0 0 0>; };"
		"    up { #address-cells = <1>; #size-cells = <1>;"
		"      ranges = <0x0 0xffffffff 0xffffff00 0x1000>; a@200 { reg = <0x200 0x10>; }; };"
		"    pci { #address-cells = <3>; #size-cells = <2>; ranges;"
		"      d@0 { reg = <0 0 0 0 1>; }; };"
		"    odd { #address-cells = <9>; #size-cells = <2>; ranges; e@0 { reg = <0 0 0>; }; };"
		"    none { #address-cells = <0>; #size-cells = <0>; ranges; f { reg = <0>; }; }; };");

	(void)state;
	assert_false(reg_of(&tree, "/high@0", 0));
	assert_false(reg_of(&tree, "/short@0", 0));
	assert_false(reg_of(&tree, "/up/a@200", 0));
	assert_false(reg_of(&tree, "/pci/d@0", 0));
	assert_false(reg_of(&tree, "/odd/e@0", 0));
	assert_false(reg_of(&tree, "/none/f", 0));
	tree_free(&tree);
}

static void nodes_that_are_not_okay_do_not_exist(void **state)
{
	struct test_tree tree =
		tree_from_source("/ { off { status = \"disabled\"; in { compatible = \"x\"; }; };"
				 "    a { compatible = \"y\", \"x\"; status = \"fail\"; };"
				 "    b { compatible = \"x\"; status = \"ok\"; };"
				 "    c { compatible = \"x\"; status = \"okay\"; };"
				 "    d { compatible = \"z\"; status = \"okay?\"; };"
				 "    e { compatible = \"z\"; status; }; };");
	int b;
	int c;

	(void)state;
	b = node_at(&tree, "/b");
	c = node_at(&tree, "/c");
	assert_false(tree_node_okay(tree.blob, node_at(&tree, "/off/in")));
	assert_true(tree_status_okay(tree.blob, node_at(&tree, "/off/in")));
	assert_true(tree_node_okay(tree.blob, 0));
	assert_int_equal(tree_find_compatible(tree.blob, -1, "x"), b);
	assert_int_equal(tree_find_compatible(tree.blob, b + 1, "x"), c);
	assert_true(tree_find_compatible(tree.blob, c + 1, "x") < 0);
	assert_true(tree_find_compatible(tree.blob, -1, "y") < 0);
	assert_true(tree_find_compatible(tree.blob, -1, "z") < 0);
	tree_free(&tree);
}

static void expect_stdout(const char *source, const char *path)
{
	struct test_tree tree = tree_from_source(source);
	int node = tree_stdout(tree.blob);

	if (path == NULL) {
		assert_true(node < 0);
	} else {
		assert_int_equal(node, node_at(&tree, path));
	}
	tree_free(&tree);
}

static void stdout_path_in_all_its_forms(void **state)
{
	(void)state;
	expect_stdout("/ { u@1 {}; chosen { stdout-path = \"/u@1\"; }; };", "/u@1");
	expect_stdout("/ { u@1 {}; chosen { stdout-path = \"/u@1:115200n8\"; }; };", "/u@1");
	expect_stdout("/ { s { u@1 {}; }; aliases { serial0 = \"/s/u@1\"; };"
		      "  chosen { stdout-path = \"serial0:115200n8\"; }; };",
		      "/s/u@1");
	expect_stdout("/ { u@1 {}; chosen { linux,stdout-path = \"/u@1\"; }; };", "/u@1");
	expect_stdout("/ { u@1 { status = \"disabled\"; }; chosen { stdout-path = \"/u@1\"; }; };",
		      NULL);
	expect_stdout("/ { u@1 {}; };", NULL);
	expect_stdout("/ { u@1 {}; chosen {}; };", NULL);
	expect_stdout("/ { chosen { stdout-path = \"serial0\"; }; };", NULL);
	expect_stdout("/ { chosen { stdout-path = \"\"; }; };", NULL);
	expect_stdout("/ { chosen { stdout-path = [2f 75]; }; u {}; };", NULL);
	expect_stdout("/ { aliases { a = [2f 75]; }; chosen { stdout-path = \"a\"; }; u {}; };",
		      NULL);
	expect_stdout("/ { aliases { a = \"a\"; }; chosen { stdout-path = \"a\"; }; };", NULL);
}

static void strings_and_numbers(void **state)
{
	struct test_tree tree = tree_from_source(
		"/ { s = \"text\", \"more\"; open = [61 62]; none; one = <7>; two = <1 2>;"
		"    three = <1 2 3>; };");
	uint64_t value;

	(void)state;
	assert_string_equal(tree_string(tree.blob, 0, "s"), "text");
	assert_null(tree_string(tree.blob, 0, "open"));
	assert_null(tree_string(tree.blob, 0, "none"));
	assert_null(tree_string(tree.blob, 0, "absent"));
	assert_true(tree_number(tree.blob, 0, "one", &value));
	assert_int_equal(value, 7);
	assert_true(tree_number(tree.blob, 0, "two", &value));
	assert_int_equal(value, UINT64_C(0x100000002));
	assert_false(tree_number(tree.blob, 0, "three", &value));
	assert_false(tree_number(tree.blob, 0, "none", &value));
	tree_free(&tree);
}

static void deep_nesting_is_survived(void **state)
{
	char source[8192] = "/ {";
	struct test_tree tree;

	(void)state;
	for (int i = 0; i < 300; i++) {
		strcat(source, "n { ");
	}
	strcat(source, "compatible = \"deep\"; reg = <0>;");
	for (int i = 0; i < 301; i++) {
		strcat(source, "};");
	}
	tree = tree_from_source(source);
	assert_true(tree_valid(tree.blob, tree.bytes));
	assert_true(tree_find_compatible(tree.blob, -1, "deep") < 0);
	tree_free(&tree);
}

static void children_and_their_names(void **state)
{
	struct test_tree tree = tree_from_source(
		"/ { a@1 { b { c {}; }; }; ab {}; d@2 { b@3 {}; b@4 {}; }; e {}; };");
	struct test_tree other = tree_from_source("/ { x {}; };");
	static const char *const names[] = {"a@1", "ab", "d@2", "e"};

	(void)state;
	/* Once with the list of nodes, once without it. */
	for (int pass = 0; pass < 2; pass++) {
		int count = 0;

		assert_true(tree_valid(pass == 0 ? tree.blob : other.blob,
				       pass == 0 ? tree.bytes : other.bytes));
		for (struct tree_children c = tree_children(tree.blob, 0); tree_next_child(&c);) {
			assert_string_equal(fdt_get_name(tree.blob, c.node, NULL), names[count]);
			count++;
		}
		assert_int_equal(count, 4);
		assert_int_equal(tree_child(tree.blob, 0, "a"), node_at(&tree, "/a@1"));
		assert_int_equal(tree_child(tree.blob, 0, "ab"), node_at(&tree, "/ab"));
		assert_int_equal(tree_child(tree.blob, node_at(&tree, "/d@2"), "b@4"),
				 node_at(&tree, "/d@2/b@4"));
		assert_true(tree_child(tree.blob, 0, "b") < 0);
		assert_true(tree_child(tree.blob, 0, "a@") < 0);
		assert_true(tree_child(tree.blob, 0, "a@2") < 0);
		assert_true(tree_child(tree.blob, -1, "a") < 0);
		assert_true(tree_child(tree.blob, node_at(&tree, "/e"), "x") < 0);
	}
	tree_free(&tree);
	tree_free(&other);
}

/* More nodes than are listed. */
static void large_trees_are_walked(void **state)
{
	static char source[16000] = "/ { #address-cells = <1>; #size-cells = <1>;";
	struct test_tree tree;

	(void)state;
	for (int i = 0; i < 1500; i++) {
		snprintf(source + strlen(source), 16, "n%d{};", i);
	}
	strcat(source, "u@5 { compatible = \"last\"; reg = <5 6>; }; };");
	tree = tree_from_source(source);
	assert_true(tree_valid(tree.blob, tree.bytes));
	assert_int_equal(tree_find_compatible(tree.blob, -1, "last"), node_at(&tree, "/u@5"));
	assert_true(reg_of(&tree, "/u@5", 0));
	assert_int_equal(address, 5);
	assert_int_equal(tree_child(tree.blob, 0, "n1499"), node_at(&tree, "/n1499"));
	tree_free(&tree);
}

static void only_whole_trees_are_valid(void **state)
{
	struct test_tree tree = tree_from_source("/ { a = <1>; b {}; };");
	uint8_t *copy = malloc(tree.bytes + 8);

	(void)state;
	assert_true(tree_valid(tree.blob, tree.bytes));
	assert_int_equal(tree_claimed_bytes(tree.blob), tree.bytes);
	for (size_t readable = 0; readable < tree.bytes; readable++) {
		uint8_t *cut = malloc(readable + 8);

		memcpy(cut, tree.blob, readable < 8 ? 8 : readable);
		assert_false(tree_valid(cut, readable));
		free(cut);
	}
	memcpy(copy + 4, tree.blob, tree.bytes);
	assert_false(tree_valid(copy + 4, tree.bytes));
	memcpy(copy, tree.blob, tree.bytes);
	copy[0] ^= 1;
	assert_false(tree_valid(copy, tree.bytes));
	assert_int_equal(tree_claimed_bytes(copy), 0);
	free(copy);
	tree_free(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reg_goes_through_ranges),
		cmocka_unit_test(reg_that_wraps_or_is_too_wide_is_refused),
		cmocka_unit_test(nodes_that_are_not_okay_do_not_exist),
		cmocka_unit_test(stdout_path_in_all_its_forms),
		cmocka_unit_test(strings_and_numbers),
		cmocka_unit_test(deep_nesting_is_survived),
		cmocka_unit_test(children_and_their_names),
		cmocka_unit_test(large_trees_are_walked),
		cmocka_unit_test(only_whole_trees_are_valid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

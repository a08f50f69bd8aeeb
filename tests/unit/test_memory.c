/* sources: src/platform/memory.c src/platform/tree.c */
/*
 * Free RAM: several memory nodes, every kind of reservation, and numbers that are meant to wrap.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "el1bench/memory.h"
#include "trees.h"

#define MIB UINT64_C(0x100000)

static struct memory_range ranges[16];
static uint32_t count;

static void read_with(const char *source, const struct memory_range *taken, uint32_t taken_count)
{
	struct test_tree tree = tree_from_source(source);

	count = memory_free_ranges(tree.blob, taken, taken_count, ranges, 16);
	tree_free(&tree);
}

static void expect_range(uint32_t index, uint64_t start, uint64_t bytes)
{
	assert_true(index < count);
	assert_int_equal(ranges[index].start, start);
	assert_int_equal(ranges[index].bytes, bytes);
}

static void several_nodes_and_entries(void **state)
{
	(void)state;
	read_with(
		"/ { #address-cells = <2>; #size-cells = <2>;"
		" memory@0 { device_type = \"memory\"; reg = <0 0 0 0x100000>, <0 0x200000 0 0x300000>; };"
		" memory@1 { device_type = \"memory\"; reg = <1 0 1 0>; };"
		" other@2 { device_type = \"cpu\"; reg = <2 0 1 0>; };"
		" secram@3 { device_type = \"memory\"; status = \"disabled\"; reg = <3 0 1 0>; }; };",
		NULL, 0);
	assert_int_equal(count, 3);
	expect_range(0, UINT64_C(1) << 32, UINT64_C(1) << 32);
	expect_range(1, 2 * MIB, 3 * MIB);
	expect_range(2, 0, MIB);
}

static void one_cell_addresses(void **state)
{
	(void)state;
	read_with("/ { #address-cells = <1>; #size-cells = <1>;"
		  " memory { device_type = \"memory\"; reg = <0x40000000 0x100000>; }; };",
		  NULL, 0);
	assert_int_equal(count, 1);
	expect_range(0, 0x40000000, MIB);
}

static void all_reservations_are_taken_out(void **state)
{
	const struct memory_range taken[] = {{0x500000, 0x1001}, {0, 0x1000}};

	(void)state;
	read_with("/memreserve/ 0x200800 0x100;"
		  "/ { #address-cells = <2>; #size-cells = <2>;"
		  " memory@0 { device_type = \"memory\"; reg = <0 0 0 0x800000>; };"
		  " chosen { linux,initrd-start = <0x300000>; linux,initrd-end = <0 0x301000>; };"
		  " reserved-memory { #address-cells = <2>; #size-cells = <2>; ranges;"
		  "   a@400000 { reg = <0 0x400000 0 0x1000>; no-map; };"
		  "   b { size = <0 0x100000>; alignment = <0 0x1000>; };"
		  "   c@600000 { reg = <0 0x600000 0 0x1000>, <0 0x700000 0 0x100000>; };"
		  "   d@0 { reg = <0 0 0 0x800000>; status = \"disabled\"; }; }; };",
		  taken, 2);
	assert_int_equal(count, 6);
	expect_range(0, 0x1000, 0x1ff000);
	for (uint32_t i = 0; i < count; i++) {
		static const uint64_t starts[] = {0x1000,   0x201000, 0x301000,
						  0x401000, 0x502000, 0x601000};
		static const uint64_t ends[] = {0x200000, 0x300000, 0x400000,
						0x500000, 0x600000, 0x700000};
		bool found = false;

		for (size_t k = 0; k < 6; k++) {
			found = found || (ranges[i].start == starts[k] &&
					  ranges[i].start + ranges[i].bytes == ends[k]);
		}
		assert_true(found);
		assert_true(i == 0 || ranges[i].bytes <= ranges[i - 1].bytes);
	}
}

static void overlapping_memory_counts_once(void **state)
{
	uint64_t total = 0;

	(void)state;
	read_with(
		"/ { #address-cells = <2>; #size-cells = <2>;"
		" memory@0 { device_type = \"memory\"; reg = <0 0 0 0x300000>, <0 0x100000 0 0x100000>,"
		" <0 0x200000 0 0x200000>; }; };",
		NULL, 0);
	for (uint32_t i = 0; i < count; i++) {
		total += ranges[i].bytes;
	}
	assert_int_equal(total, 4 * MIB);
}

static void numbers_that_wrap_are_dropped(void **state)
{
	(void)state;
	read_with(
		"/ { #address-cells = <2>; #size-cells = <2>;"
		" memory@0 { device_type = \"memory\"; reg = <0xffffffff 0xfffff000 0 0x2000>,"
		" <0 0x1000 0xffffffff 0xffffffff>, <0 0x100000 0 0>, <0 0x200000 0 0x1fff>; }; };",
		NULL, 0);
	assert_int_equal(count, 1);
	expect_range(0, 0x200000, 0x1000);
}

static void a_reservation_that_wraps_keeps_all_above(void **state)
{
	(void)state;
	read_with("/memreserve/ 0x200000 0xffffffffffffffff;"
		  "/ { #address-cells = <2>; #size-cells = <2>;"
		  " memory@0 { device_type = \"memory\"; reg = <0 0 0 0x400000>; }; };",
		  NULL, 0);
	assert_int_equal(count, 1);
	expect_range(0, 0, 2 * MIB);
}

static void no_memory(void **state)
{
	(void)state;
	read_with("/ { #address-cells = <2>; #size-cells = <2>; };", NULL, 0);
	assert_int_equal(count, 0);
	read_with("/ { #address-cells = <2>; #size-cells = <2>;"
		  " memory@0 { device_type = \"memory\"; reg = <0 0>; }; };",
		  NULL, 0);
	assert_int_equal(count, 0);
}

/* More holes than the list has room for: memory may be lost, no reservation ever is. */
static void reservations_are_never_lost(void **state)
{
	struct memory_range taken[200];

	(void)state;
	for (unsigned int i = 0; i < 200; i++) {
		taken[i] = (struct memory_range){.start = (199 - i) * 0x4000, .bytes = 0x1000};
	}
	read_with("/ { #address-cells = <2>; #size-cells = <2>;"
		  " memory@0 { device_type = \"memory\"; reg = <0 0 0 0x400000>; }; };",
		  taken, 200);
	assert_int_equal(count, 16);
	for (uint32_t i = 0; i < count; i++) {
		for (unsigned int k = 0; k < 200; k++) {
			assert_true(taken[k].start + taken[k].bytes <= ranges[i].start ||
				    taken[k].start >= ranges[i].start + ranges[i].bytes);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(several_nodes_and_entries),
		cmocka_unit_test(one_cell_addresses),
		cmocka_unit_test(all_reservations_are_taken_out),
		cmocka_unit_test(overlapping_memory_counts_once),
		cmocka_unit_test(numbers_that_wrap_are_dropped),
		cmocka_unit_test(a_reservation_that_wraps_keeps_all_above),
		cmocka_unit_test(no_memory),
		cmocka_unit_test(reservations_are_never_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* sources: src/platform/topology.c src/platform/tree.c */
/*
 * The cores: which one booted, which are usable, and where they sit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "el1bench/cpu.h"
#include "el1bench/topology.h"
#include "trees.h"

#define CPU(name, reg, rest)                                                                       \
	name " { device_type = \"cpu\"; reg = <" reg ">; enable-method = \"psci\"; " rest " };"

static struct platform_cpu cores[CPU_MAX];
static uint32_t count;
static uint32_t dropped;

static void read_tree(struct test_tree tree, uint64_t mpidr, uint32_t capacity)
{
	count = topology_read(tree.blob, mpidr, cores, capacity, &dropped);
	tree_free(&tree);
}

static void the_booting_core_is_index_0(void **state)
{
	(void)state;
	read_tree(tree_from_source("/ { cpus { #address-cells = <1>; #size-cells = <0>;" CPU(
			  "cpu@0", "0", "") CPU("cpu@1", "1", "")
					   CPU("cpu@100", "0x100", "") "}; };"),
		  0x80000001, CPU_MAX);
	assert_int_equal(count, 3);
	assert_int_equal(cores[0].target, 1);
	assert_int_equal(cores[1].target, 0);
	assert_int_equal(cores[2].target, 0x100);
	assert_int_equal(cores[2].cluster, 1);
	assert_int_equal(cores[2].core, 0);
	assert_int_equal(dropped, 0);
}

/* Odroid-C4: `reg` is 0 to 3, MPIDR has the core in affinity 1. */
static void reg_need_not_be_mpidr(void **state)
{
	(void)state;
	read_tree(tree_from_source("/ { cpus { #address-cells = <2>; #size-cells = <0>;" CPU(
			  "cpu@0", "0 0", "") CPU("cpu@1", "0 1", "") "}; };"),
		  0x81000200, CPU_MAX);
	assert_int_equal(count, 2);
	assert_int_equal(cores[0].target, 0);
	assert_int_equal(cores[1].target, 1);
}

static void unusable_cores_are_left_out(void **state)
{
	(void)state;
	read_tree(
		tree_from_source(
			"/ { cpus { #address-cells = <1>; #size-cells = <0>;"
			"cpu@9 { device_type = \"cache\"; reg = <9>; };"
			"cpu@8 { device_type = \"cpu\"; };"
			"cpu@7 { device_type = \"cpu\"; reg = <7>; enable-method = \"spin-table\"; };" CPU(
				"cpu@6", "6",
				"status = \"disabled\";") "cpu@5 { device_type = \"cpu\"; reg = <5>; };"
							  "cpu@4 { device_type = \"cpu\"; reg = <4>; enable-method = \"x\", \"psci\"; }; }; };"),
		0, CPU_MAX);
	assert_int_equal(count, 2);
	assert_int_equal(cores[0].target, 5);
	assert_int_equal(cores[1].target, 4);
}

static void too_many_cores_are_counted(void **state)
{
	(void)state;
	read_tree(tree_from_qemu("gic-version=3", 16), 0x80000001, 8);
	assert_int_equal(count, 8);
	assert_int_equal(dropped, 8);
	assert_int_equal(cores[0].target, 1);
	assert_int_equal(cores[1].target, 0);
	assert_int_equal(cores[2].target, 2);
}

/* The booting core is kept however late it stands. */
static void a_late_booting_core_is_kept(void **state)
{
	(void)state;
	read_tree(tree_from_qemu("gic-version=3", 16), 0x80000000 | 0xf, 4);
	assert_int_equal(count, 4);
	assert_int_equal(dropped, 12);
	assert_int_equal(cores[0].target, 0xf);
	assert_int_equal(cores[3].target, 2);
}

static void cpu_map_places_the_cores(void **state)
{
	(void)state;
	read_tree(tree_from_source(
			  "/ { cpus { #address-cells = <1>; #size-cells = <0>;"
			  "cpu-map { cluster0 { core0 { cpu = <&a>; }; core1 { cpu = <&b>; }; };"
			  "          cluster1 { core0 { thread0 { cpu = <&c>; }; }; }; };" CPU(
				  "a: cpu@0", "0", "") CPU("b: cpu@1", "1", "")
				  CPU("c: cpu@2", "2", "") CPU("d: cpu@3", "3", "") "}; };"),
		  2, CPU_MAX);
	assert_int_equal(count, 4);
	assert_int_equal(cores[0].target, 2);
	assert_int_equal(cores[0].cluster, 1);
	assert_int_equal(cores[0].core, 0);
	assert_int_equal(cores[2].target, 1);
	assert_int_equal(cores[2].cluster, 0);
	assert_int_equal(cores[2].core, 1);
	assert_int_equal(cores[3].core, 3);
}

static void a_tree_without_cores_has_one(void **state)
{
	(void)state;
	read_tree(tree_from_source("/ { };"), 0x80000103, CPU_MAX);
	assert_int_equal(count, 1);
	assert_int_equal(cores[0].target, 0x103);
	assert_int_equal(cores[0].cluster, 1);
	assert_int_equal(cores[0].core, 3);
	read_tree(tree_from_source("/ { cpus { #address-cells = <1>; #size-cells = <0>;"
				   "status = \"disabled\";" CPU("cpu@0", "0", "") "}; };"),
		  7, CPU_MAX);
	assert_int_equal(count, 1);
	assert_int_equal(cores[0].target, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_booting_core_is_index_0),
		cmocka_unit_test(reg_need_not_be_mpidr),
		cmocka_unit_test(unusable_cores_are_left_out),
		cmocka_unit_test(too_many_cores_are_counted),
		cmocka_unit_test(a_late_booting_core_is_kept),
		cmocka_unit_test(cpu_map_places_the_cores),
		cmocka_unit_test(a_tree_without_cores_has_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

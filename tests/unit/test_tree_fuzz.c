/* sources: src/platform/tree.c src/platform/devices.c src/platform/memory.c src/platform/topology.c src/bench/random.c */
/*
 * Damaged trees: real ones with a few bytes, cells or whole stretches changed at random, from a
 * fixed seed. Every reader must cope with whatever still passes the checks: no access beyond the
 * blob (the address sanitizer watches), no endless loop (the test's time limit does), and nothing
 * in the results that its header rules out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "el1bench/cpu.h"
#include "el1bench/devices.h"
#include "el1bench/memory.h"
#include "el1bench/random.h"
#include "el1bench/topology.h"
#include "el1bench/tree.h"
#include "el1bench/uart.h"
#include "el1bench/watchdog.h"
#include "trees.h"

#define MUTATIONS 20000 /* of each tree */

static const struct uart_driver driver = {.name = "any"};

const struct uart_driver *uart_find(const char *compatible)
{
	return strlen(compatible) % 2 == 1 ? &driver : NULL;
}

const struct watchdog_driver *watchdog_driver(uint32_t index)
{
	static const struct watchdog_driver watchdog = {.compatible = "vendor,watchdog"};

	return index == 0 ? &watchdog : NULL;
}

/* As much as an odd board has: ranges, reservations, aliases, a map of cores. */
static const char board[] =
	"/memreserve/ 0x5000000 0x2300000;"
	"/ { #address-cells = <2>; #size-cells = <2>; interrupt-parent = <&gic>; model = \"A board\";"
	"  aliases { serial0 = \"/soc/bus@ff800000/serial@3000\"; };"
	"  chosen { stdout-path = \"serial0:115200n8\"; bootargs = \"el1bench.samples=10\";"
	"    linux,initrd-start = <0x8000000>; linux,initrd-end = <0x8100000>; };"
	"  memory@0 { device_type = \"memory\"; reg = <0 0 0 0x40000000>, <1 0 0 0x10000000>; };"
	"  reserved-memory { #address-cells = <2>; #size-cells = <2>; ranges;"
	"    a@5000000 { reg = <0 0x5000000 0 0x300000>; no-map; };"
	"    b { size = <0 0x1000000>; }; };"
	"  psci { compatible = \"arm,psci-1.0\"; method = \"smc\"; };"
	"  cpus { #address-cells = <2>; #size-cells = <0>;"
	"    cpu-map { cluster0 { core0 { cpu = <&c0>; }; core1 { cpu = <&c1>; }; }; };"
	"    c0: cpu@0 { device_type = \"cpu\"; reg = <0 0>; enable-method = \"psci\"; };"
	"    c1: cpu@1 { device_type = \"cpu\"; reg = <0 1>; enable-method = \"psci\"; }; };"
	"  timer { compatible = \"arm,armv8-timer\"; interrupt-names = \"sec-phys\", \"phys\";"
	"    interrupts = <1 13 0xff08>, <1 14 0xff08>; };"
	"  soc { compatible = \"simple-bus\"; #address-cells = <2>; #size-cells = <2>; ranges;"
	"    gic: interrupt-controller@ffc01000 { compatible = \"arm,gic-400\"; #interrupt-cells = <3>;"
	"      reg = <0 0xffc01000 0 0x1000>, <0 0xffc02000 0 0x2000>; interrupt-controller; };"
	"    bus@ff800000 { #address-cells = <2>; #size-cells = <2>;"
	"      ranges = <0 0 0 0xff800000 0 0x100000>;"
	"      watchdog@f0d0 { compatible = \"vendor,watchdog\"; reg = <0 0xf0d0 0 0x10>; };"
	"      serial@3000 { compatible = \"amlogic,meson-g12a-uart\", \"amlogic,meson-ao-uart\";"
	"        reg = <0 0x3000 0 0x18>; status = \"okay\"; }; }; }; };";

static void check_frame(const struct memory_range *frame)
{
	assert_true(frame->bytes > 0);
	assert_true(frame->start + frame->bytes >= frame->start);
}

/* What the readers said, without gaps, so that two readings can be compared. */
struct reading {
	struct devices devices;
	struct memory_range ranges[16];
	struct platform_cpu cores[CPU_MAX];
	uint32_t range_count;
	uint32_t core_count;
	uint32_t dropped;
};

static void read_everything(const void *tree, struct reading *reading)
{
	static const struct memory_range taken[] = {{0x20000000, 0x20000}};
	const struct devices *devices = &reading->devices;
	struct memory_range watchdog_registers;

	memset(reading, 0, sizeof(*reading));
	devices_read(tree, &reading->devices);
	if (devices_watchdog(tree, &watchdog_registers) != NULL) {
		check_frame(&watchdog_registers);
	}
	assert_non_null(memchr(devices->model, '\0', sizeof(devices->model)));
	if (devices->uart != NULL) {
		check_frame(&devices->uart_registers);
	}
	if (devices->gic_version != 0) {
		check_frame(&devices->gic_distributor);
	}
	if (devices->gic_version == 2) {
		check_frame(&devices->gic_cpu_interface);
	}
	assert_true(devices->gic_redistributor_count <= DEVICES_REDISTRIBUTORS_MAX);
	assert_true(devices->timer_intid == 0 ||
		    (devices->timer_intid >= 16 && devices->timer_intid < 32));

	reading->range_count = memory_free_ranges(tree, taken, 1, reading->ranges, 16);
	assert_true(reading->range_count <= 16);
	for (uint32_t i = 0; i < reading->range_count; i++) {
		const struct memory_range *range = &reading->ranges[i];

		check_frame(range);
		assert_int_equal((range->start | range->bytes) % MEMORY_PAGE_BYTES, 0);
		assert_true(range->start >= taken[0].start + taken[0].bytes ||
			    range->start + range->bytes <= taken[0].start);
	}

	reading->core_count =
		topology_read(tree, 0x80000000, reading->cores, CPU_MAX, &reading->dropped);
	assert_true(reading->core_count >= 1 && reading->core_count <= CPU_MAX);
}

static void mutate(struct random_state *random, uint8_t *blob, size_t bytes)
{
	static const uint32_t cells[] = {0, 1,          2,          3,          4,
					 9, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffff000};
	uint32_t changes = 1 + random_below(random, 4);

	for (uint32_t i = 0; i < changes; i++) {
		/* The header is small and checked first: most of the work goes beyond it. */
		uint32_t at = random_below(random,
					   (uint32_t)(random_below(random, 16) == 0 ? 64 : bytes));
		uint32_t from = random_below(random, (uint32_t)bytes);
		uint32_t length = 1 + random_below(random, 64);
		fdt32_t cell;

		switch (random_below(random, 4)) {
		case 0:
			blob[at] = (uint8_t)random_next(random);
			break;
		case 1:
			blob[at] ^= (uint8_t)(1U << random_below(random, 8));
			break;
		case 2:
			cell = cpu_to_fdt32(
				cells[random_below(random, sizeof(cells) / sizeof(cells[0]))]);
			at &= ~3U;
			if (at + 4 <= bytes) {
				memcpy(blob + at, &cell, 4);
			}
			break;
		default:
			if (at + length <= bytes && from + length <= bytes) {
				memmove(blob + at, blob + from, length);
			}
			break;
		}
	}
}

static void fuzz(struct test_tree tree, uint64_t seed)
{
	struct random_state random;
	struct reading listed;
	struct reading walked;
	uint32_t valid = 0;

	random_seed(&random, seed);
	assert_true(tree_valid(tree.blob, tree.bytes));
	read_everything(tree.blob, &listed);
	for (uint32_t i = 0; i < MUTATIONS; i++) {
		uint8_t *blob = malloc(tree.bytes);

		memcpy(blob, tree.blob, tree.bytes);
		mutate(&random, blob, tree.bytes);
		if (tree_valid(blob, tree.bytes)) {
			valid++;
			read_everything(blob, &listed);
			/*
			 * Another tree takes the list of nodes: this one is walked, to the same
			 * end.
			 */
			assert_true(tree_valid(tree.blob, tree.bytes));
			read_everything(blob, &walked);
			assert_memory_equal(&listed, &walked, sizeof(listed));
		}
		free(blob);
	}
	print_message("%u of %u damaged trees passed the checks and were read\n", valid, MUTATIONS);
	/* Too few, and the fuzzing would test the checks of libfdt alone. */
	assert_true(valid > MUTATIONS / 10);
	tree_free(&tree);
}

static void qemu_virt(void **state)
{
	(void)state;
	fuzz(tree_from_qemu("gic-version=3", 2), 1);
}

static void hand_written(void **state)
{
	(void)state;
	fuzz(tree_from_source(board), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(qemu_virt),
		cmocka_unit_test(hand_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

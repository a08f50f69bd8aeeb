/* sources: src/platform/devices.c src/platform/tree.c */
/*
 * UART, GIC, PSCI and timer as trees describe them, QEMU's and others.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "el1bench/devices.h"
#include "el1bench/uart.h"
#include "el1bench/watchdog.h"
#include "trees.h"

static const struct uart_driver pl011 = {.name = "pl011"};
static const struct uart_driver meson = {.name = "meson"};

const struct uart_driver *uart_find(const char *compatible)
{
	if (strcmp(compatible, "arm,pl011") == 0) {
		return &pl011;
	}
	return strcmp(compatible, "amlogic,meson-ao-uart") == 0 ? &meson : NULL;
}

static const struct watchdog_driver watchdogs[] = {
	{.compatible = "vendor,watchdog"},
	{.compatible = "amlogic,meson-gxbb-wdt"},
};

const struct watchdog_driver *watchdog_driver(uint32_t index)
{
	return index < sizeof(watchdogs) / sizeof(watchdogs[0]) ? &watchdogs[index] : NULL;
}

static struct devices devices;

static void read_tree(struct test_tree tree)
{
	devices_read(tree.blob, &devices);
	tree_free(&tree);
}

static void qemu_virt_gic_v2(void **state)
{
	(void)state;
	read_tree(tree_from_qemu("gic-version=2", 2));
	assert_ptr_equal(devices.uart, &pl011);
	assert_string_equal(devices.uart_compatible, "arm,pl011");
	assert_int_equal(devices.uart_registers.start, 0x9000000);
	assert_int_equal(devices.gic_version, 2);
	assert_int_equal(devices.gic_distributor.start, 0x8000000);
	assert_int_equal(devices.gic_cpu_interface.start, 0x8010000);
	assert_int_equal(devices.conduit, PSCI_CONDUIT_HVC);
	assert_int_equal(devices.timer_intid, 30);
	assert_string_equal(devices.model, "linux,dummy-virt");
}

static void qemu_virt_gic_v3(void **state)
{
	(void)state;
	read_tree(tree_from_qemu("gic-version=3,virtualization=on", 2));
	assert_int_equal(devices.gic_version, 3);
	assert_int_equal(devices.gic_redistributor_count, 1);
	assert_int_equal(devices.gic_redistributors[0].start, 0x80a0000);
	assert_int_equal(devices.gic_redistributors[0].bytes, 0xf60000);
	assert_int_equal(devices.conduit, PSCI_CONDUIT_SMC);
}

/* With `secure=on` the first PL011 of the tree belongs to the secure world. */
static void the_console_is_stdout_path_and_not_the_first_uart(void **state)
{
	(void)state;
	read_tree(tree_from_qemu("secure=on", 1));
	assert_int_equal(devices.uart_registers.start, 0x9000000);
}

static void every_compatible_of_the_uart_is_tried(void **state)
{
	(void)state;
	read_tree(tree_from_source(
		"/ { #address-cells = <1>; #size-cells = <1>; chosen { stdout-path = \"/u@1000\"; };"
		" u@1000 { compatible = \"amlogic,meson-g12a-uart\", \"amlogic,meson-ao-uart\";"
		" reg = <0x1000 0x18>; }; };"));
	assert_ptr_equal(devices.uart, &meson);
	assert_string_equal(devices.uart_compatible, "amlogic,meson-ao-uart");
	read_tree(tree_from_source(
		"/ { #address-cells = <1>; #size-cells = <1>; chosen { stdout-path = \"/u@1000\"; };"
		" u@1000 { compatible = \"vendor,new\", \"vendor,old\"; reg = <0x1000 0x18>; };"
		" v@2000 { compatible = \"arm,pl011\"; reg = <0x2000 0x1000>; }; };"));
	assert_null(devices.uart);
	assert_string_equal(devices.uart_compatible, "vendor,new");
	read_tree(tree_from_source("/ { chosen { stdout-path = \"/u\"; };"
				   " u { compatible = \"arm,pl011\"; }; };"));
	assert_null(devices.uart);
}

static void redistributor_regions(void **state)
{
	(void)state;
	read_tree(tree_from_source(
		"/ { #address-cells = <1>; #size-cells = <1>; gic { compatible = \"arm,gic-v3\";"
		" #redistributor-regions = <2>; reg = <0x1000000 0x10000>, <0x2000000 0x40000>,"
		" <0x3000000 0x80000>, <0x4000000 0x80000>; }; };"));
	assert_int_equal(devices.gic_version, 3);
	assert_int_equal(devices.gic_redistributor_count, 2);
	assert_int_equal(devices.gic_redistributors[1].start, 0x3000000);
}

static void a_gic_that_cannot_be_is_none(void **state)
{
	(void)state;
	read_tree(tree_from_source(
		"/ { #address-cells = <1>; #size-cells = <1>; gic { compatible = \"arm,gic-v3\";"
		" reg = <0x1000000 0x10000>; }; };"));
	assert_int_equal(devices.gic_version, 0);
	read_tree(tree_from_source(
		"/ { #address-cells = <1>; #size-cells = <1>; gic { compatible = \"arm,gic-400\";"
		" reg = <0x1000000 0x1000>, <0x2000000 0xfffff000>; }; };"));
	assert_int_equal(devices.gic_version, 0);
	read_tree(tree_from_source(
		"/ { #address-cells = <1>; #size-cells = <1>; gic { compatible = \"arm,gic-400\";"
		" status = \"disabled\"; reg = <0x1000000 0x1000>, <0x2000000 0x2000>; }; };"));
	assert_int_equal(devices.gic_version, 0);
}

static void psci_needs_a_method(void **state)
{
	(void)state;
	read_tree(tree_from_source(
		"/ { psci { compatible = \"arm,psci-1.0\"; method = \"smc\"; }; };"));
	assert_int_equal(devices.conduit, PSCI_CONDUIT_SMC);
	read_tree(
		tree_from_source("/ { psci { compatible = \"arm,psci\"; method = \"hvc\"; }; };"));
	assert_int_equal(devices.conduit, PSCI_CONDUIT_HVC);
	read_tree(tree_from_source("/ { psci { compatible = \"arm,psci-1.0\"; }; };"));
	assert_int_equal(devices.conduit, PSCI_CONDUIT_NONE);
	read_tree(tree_from_source(
		"/ { psci { compatible = \"arm,psci-1.0\"; method = \"svc\"; }; };"));
	assert_int_equal(devices.conduit, PSCI_CONDUIT_NONE);
	read_tree(tree_from_source("/ { psci { compatible = \"arm,psci-0.2\"; method = \"smc\";"
				   " status = \"disabled\"; }; };"));
	assert_int_equal(devices.conduit, PSCI_CONDUIT_NONE);
}

static void timer_interrupts_by_place_or_name(void **state)
{
	(void)state;
	read_tree(tree_from_source("/ { timer { compatible = \"arm,armv8-timer\";"
				   " interrupts = <1 13 8>, <1 14 8>, <1 11 8>, <1 10 8>; }; };"));
	assert_int_equal(devices.timer_intid, 30);
	read_tree(tree_from_source("/ { timer { compatible = \"arm,armv8-timer\";"
				   " interrupt-names = \"virt\", \"phys\";"
				   " interrupts = <1 11 8>, <1 12 8>; }; };"));
	assert_int_equal(devices.timer_intid, 28);
	read_tree(tree_from_source("/ { timer { compatible = \"arm,armv8-timer\";"
				   " interrupts = <1 13 8>, <0 14 8>; }; };"));
	assert_int_equal(devices.timer_intid, 0);
	read_tree(tree_from_source("/ { timer { compatible = \"arm,armv8-timer\";"
				   " interrupts = <1 13 8>; }; };"));
	assert_int_equal(devices.timer_intid, 0);
}

static void the_model_is_made_printable(void **state)
{
	(void)state;
	read_tree(tree_from_source("/ { model = \"a\tb\xc3\"; };"));
	assert_string_equal(devices.model, "a?b?");
	read_tree(tree_from_source("/ { };"));
	assert_string_equal(devices.model, "unknown");
	read_tree(tree_from_source("/ { model = \"0123456789012345678901234567890123456789"
				   "012345678901234567890123456789\"; };"));
	assert_int_equal(strlen(devices.model), sizeof(devices.model) - 1);
}

static const struct watchdog_driver *watchdog_of(const char *node, struct memory_range *registers)
{
	char source[512];
	struct test_tree tree;
	const struct watchdog_driver *driver;

	snprintf(
		source, sizeof(source),
		"/ { #address-cells = <1>; #size-cells = <1>; bus@ffd00000 { #address-cells = <1>;"
		" #size-cells = <1>; ranges = <0 0xffd00000 0x100000>; watchdog@f0d0 { %s }; }; };",
		node);
	tree = tree_from_source(source);
	driver = devices_watchdog(tree.blob, registers);
	tree_free(&tree);
	return driver;
}

static void the_watchdog_is_found_behind_its_bus(void **state)
{
	struct memory_range registers;

	(void)state;
	assert_ptr_equal(
		watchdog_of("compatible = \"amlogic,meson-gxbb-wdt\"; reg = <0xf0d0 0x10>;",
			    &registers),
		&watchdogs[1]);
	assert_int_equal(registers.start, 0xffd0f0d0);
	assert_int_equal(registers.bytes, 0x10);
}

static void other_watchdogs_are_left_alone(void **state)
{
	struct memory_range registers;

	(void)state;
	assert_null(watchdog_of("compatible = \"vendor,other\"; reg = <0xf0d0 0x10>;", &registers));
	assert_null(
		watchdog_of("compatible = \"vendor,watchdog\"; reg = <0xf0d0 0x8>;", &registers));
	assert_null(watchdog_of("compatible = \"vendor,watchdog\";", &registers));
	assert_null(watchdog_of("compatible = \"vendor,watchdog\"; reg = <0xf0d0 0x10>;"
				" status = \"disabled\";",
				&registers));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(qemu_virt_gic_v2),
		cmocka_unit_test(qemu_virt_gic_v3),
		cmocka_unit_test(the_console_is_stdout_path_and_not_the_first_uart),
		cmocka_unit_test(every_compatible_of_the_uart_is_tried),
		cmocka_unit_test(redistributor_regions),
		cmocka_unit_test(a_gic_that_cannot_be_is_none),
		cmocka_unit_test(psci_needs_a_method),
		cmocka_unit_test(timer_interrupts_by_place_or_name),
		cmocka_unit_test(the_model_is_made_printable),
		cmocka_unit_test(the_watchdog_is_found_behind_its_bus),
		cmocka_unit_test(other_watchdogs_are_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * What the device tree says of the console's UART, the interrupt controller, firmware and timer.
 */
#include "el1bench/devices.h"

#include <libfdt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "el1bench/tree.h"
#include "el1bench/uart.h"
#include "el1bench/watchdog.h"

/* Register frames as small as the drivers can do with; a smaller one is a broken description. */
#define GICD_V2_BYTES 0x1000U
#define GICC_BYTES 0x100U
#define GICD_V3_BYTES 0x10000U
#define GICR_BYTES 0x20000U /* of one core */
#define WATCHDOG_BYTES 0x10U

/* Larger than any real frame; a description beyond it would only eat page tables. */
#define DEVICE_BYTES_MAX UINT64_C(0x4000000)

#define PPI_BASE 16U
#define PPI_COUNT 16U
#define INTERRUPT_TYPE_PPI 1U

/* Printable characters only: the text ends up in log lines. */
static void copy_printable(char *to, size_t capacity, const char *from)
{
	size_t i = 0;

	for (; from[i] != '\0' && i + 1 < capacity; i++) {
		to[i] = from[i] >= ' ' && from[i] <= '~' ? from[i] : '?';
	}
	to[i] = '\0';
}

static bool read_frame(const void *tree, int node, unsigned int index, uint64_t least_bytes,
		       struct memory_range *frame)
{
	return tree_reg(tree, node, index, &frame->start, &frame->bytes) &&
	       frame->bytes >= least_bytes && frame->bytes <= DEVICE_BYTES_MAX;
}

/* The node's `compatible` strings stand most specific first, so the first with a driver is it. */
static void read_uart(const void *tree, struct devices *devices)
{
	int node = tree_stdout(tree);
	int count = node < 0 ? 0 : fdt_stringlist_count(tree, node, "compatible");

	for (int i = 0; i < count; i++) {
		const char *compatible = fdt_stringlist_get(tree, node, "compatible", i, NULL);
		const struct uart_driver *driver =
			compatible == NULL ? NULL : uart_find(compatible);

		if (compatible != NULL && (i == 0 || driver != NULL)) {
			copy_printable(devices->uart_compatible, sizeof(devices->uart_compatible),
				       compatible);
		}
		if (driver != NULL) {
			if (read_frame(tree, node, 0, 1, &devices->uart_registers)) {
				devices->uart = driver;
			}
			return;
		}
	}
}

static bool read_gic_v3(const void *tree, int node, struct devices *devices)
{
	uint64_t regions = 1;

	if (fdt_getprop(tree, node, "#redistributor-regions", NULL) != NULL &&
	    !tree_number(tree, node, "#redistributor-regions", &regions)) {
		return false;
	}
	if (!read_frame(tree, node, 0, GICD_V3_BYTES, &devices->gic_distributor)) {
		return false;
	}
	for (unsigned int i = 0; i < regions && i < DEVICES_REDISTRIBUTORS_MAX; i++) {
		if (!read_frame(tree, node, 1 + i, GICR_BYTES, &devices->gic_redistributors[i])) {
			break;
		}
		devices->gic_redistributor_count = i + 1;
	}
	return devices->gic_redistributor_count > 0;
}

static bool read_gic_v2(const void *tree, int node, struct devices *devices)
{
	return read_frame(tree, node, 0, GICD_V2_BYTES, &devices->gic_distributor) &&
	       read_frame(tree, node, 1, GICC_BYTES, &devices->gic_cpu_interface);
}

/* Returns the controller's node, or a negative number. */
static int read_gic(const void *tree, struct devices *devices)
{
	static const struct {
		const char *compatible;
		uint32_t version;
		bool (*read)(const void *tree, int node, struct devices *devices);
	} kinds[] = {
		{"arm,gic-v3", 3, read_gic_v3},
		{"arm,cortex-a15-gic", 2, read_gic_v2},
		{"arm,gic-400", 2, read_gic_v2},
		{"arm,cortex-a9-gic", 2, read_gic_v2},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		int node = tree_find_compatible(tree, -1, kinds[i].compatible);

		if (node >= 0 && kinds[i].read(tree, node, devices)) {
			devices->gic_version = kinds[i].version;
			return node;
		}
	}
	return -FDT_ERR_NOTFOUND;
}

/* All three bindings use the standard function identifiers for what the image calls. */
static void read_psci(const void *tree, struct devices *devices)
{
	static const char *const names[] = {"arm,psci-1.0", "arm,psci-0.2", "arm,psci"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int node = tree_find_compatible(tree, -1, names[i]);
		const char *method = node < 0 ? NULL : tree_string(tree, node, "method");

		if (method != NULL && strcmp(method, "hvc") == 0) {
			devices->conduit = PSCI_CONDUIT_HVC;
			return;
		}
		if (method != NULL && strcmp(method, "smc") == 0) {
			devices->conduit = PSCI_CONDUIT_SMC;
			return;
		}
	}
}

/*
 * The architected timer's interrupts stand in a fixed order, secure physical first, unless
 * interrupt-names says otherwise. Each has as many cells as the GIC's #interrupt-cells says, at
 * least three: type, number, flags.
 */
static void read_timer(const void *tree, int gic_node, struct devices *devices)
{
	int node = tree_find_compatible(tree, -1, "arm,armv8-timer");
	uint64_t cells = 3;
	int index = 1;
	int length;
	const fdt32_t *interrupts;

	if (node < 0) {
		return;
	}
	if (fdt_getprop(tree, node, "interrupt-names", NULL) != NULL) {
		index = fdt_stringlist_search(tree, node, "interrupt-names", "phys");
	}
	if (gic_node >= 0 && tree_number(tree, gic_node, "#interrupt-cells", &cells) &&
	    (cells < 3 || cells > 4)) {
		return;
	}
	interrupts = fdt_getprop(tree, node, "interrupts", &length);
	if (interrupts == NULL || index < 0 || index > 4 ||
	    ((uint64_t)index + 1) * cells * 4 > (unsigned int)length) {
		return;
	}
	interrupts += (uint64_t)index * cells;
	if (fdt32_ld(interrupts) == INTERRUPT_TYPE_PPI && fdt32_ld(interrupts + 1) < PPI_COUNT) {
		devices->timer_intid = PPI_BASE + fdt32_ld(interrupts + 1);
	}
}

void devices_read(const void *tree, struct devices *devices)
{
	const char *model = tree_string(tree, 0, "model");
	int gic_node;

	*devices = (struct devices){.conduit = PSCI_CONDUIT_NONE};
	copy_printable(devices->model, sizeof(devices->model),
		       model == NULL || model[0] == '\0' ? "unknown" : model);
	read_uart(tree, devices);
	gic_node = read_gic(tree, devices);
	read_psci(tree, devices);
	read_timer(tree, gic_node, devices);
}

const struct watchdog_driver *devices_watchdog(const void *tree, struct memory_range *registers)
{
	const struct watchdog_driver *driver;

	for (uint32_t i = 0; (driver = watchdog_driver(i)) != NULL; i++) {
		int node = tree_find_compatible(tree, -1, driver->compatible);

		if (node >= 0 && read_frame(tree, node, 0, WATCHDOG_BYTES, registers)) {
			break;
		}
	}
	return driver;
}

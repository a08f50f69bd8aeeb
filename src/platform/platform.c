/*
 * Finds the device tree and reads the machine out of it. Whatever address a candidate names may be
 * empty space or a device: it is only ever read through exception_probe_copy, and believed only
 * after libfdt has checked the whole of it.
 */
#include "el1bench/platform.h"

#include <libfdt.h>
#include <stdio.h>
#include <string.h>

#include "el1bench/devices.h"
#include "el1bench/exception.h"
#include "el1bench/go_arguments.h"
#include "el1bench/mmu.h"
#include "el1bench/sysreg.h"
#include "el1bench/tree.h"
#include "el1bench/watchdog.h"

#define GIB (UINT64_C(1) << 30)
#define GIC_V2_CPU_MAX 8

/* Ranges looked at on the way, at most: four candidates, twice each, and `go`'s words. */
#define LOOKED_AT_MAX 32

struct platform platform;

/* The board's own tree, put into the image by the build. */
extern const uint8_t embedded_tree[];
extern const uint8_t embedded_tree_end[];

static struct go_arguments go_arguments;
static const char *boot_arguments = "";

/*
 * Pages that were mapped to look at them. They stay mapped read-only and therefore can never be
 * mapped as free memory: they are counted as taken. The last entries are the tree and the image.
 */
static struct memory_range taken[LOOKED_AT_MAX + 2];
static uint32_t taken_count;

/* Maps whole pages to be looked at; NULL if that cannot be, or if there were too many. */
static const uint8_t *look_at(uint64_t physical, uint64_t bytes)
{
	const uint64_t mask = MEMORY_PAGE_BYTES - 1;
	uint64_t start = physical & ~mask;
	uint64_t end = (physical + bytes + mask) & ~mask;
	const uint8_t *mapped;

	if (bytes == 0 || end <= start) {
		return NULL;
	}
	for (uint32_t i = 0; i < taken_count; i++) {
		if (start >= taken[i].start && end <= taken[i].start + taken[i].bytes) {
			return mmu_map(physical, bytes, MMU_MEMORY_READ_ONLY);
		}
	}
	if (taken_count == LOOKED_AT_MAX) {
		return NULL;
	}
	mapped = mmu_map(physical, bytes, MMU_MEMORY_READ_ONLY);
	if (mapped != NULL) {
		taken[taken_count++] = (struct memory_range){.start = start, .bytes = end - start};
	}
	return mapped;
}

static bool read_physical(uint64_t physical, void *destination, size_t bytes)
{
	const uint8_t *mapped = look_at(physical, bytes);

	return mapped != NULL && exception_probe_copy(destination, mapped, bytes);
}

/* A tree at a physical address: aligned, readable in every page, and whole; NULL otherwise. */
static const void *tree_at(uint64_t physical)
{
	struct fdt_header header __attribute__((aligned(8)));
	const uint8_t *tree;
	size_t bytes;
	uint8_t byte;

	if (physical % 8 != 0 || !read_physical(physical, &header, sizeof(header))) {
		return NULL;
	}
	bytes = tree_claimed_bytes(&header);
	if (bytes < sizeof(header) || bytes > TREE_MAX_BYTES) {
		return NULL;
	}
	tree = look_at(physical, bytes);
	if (tree == NULL) {
		return NULL;
	}
	for (size_t at = 0; at < bytes; at += MEMORY_PAGE_BYTES) {
		if (!exception_probe_copy(&byte, tree + at, 1)) {
			return NULL;
		}
	}
	if (!exception_probe_copy(&byte, tree + bytes - 1, 1) || !tree_valid(tree, bytes)) {
		return NULL;
	}
	return tree;
}

static bool try_tree(enum tree_source source, uint64_t physical)
{
	const void *tree = tree_at(physical);

	if (tree == NULL) {
		return false;
	}
	platform.tree = tree;
	platform.tree_source = source;
	platform.tree_physical = physical;
	return true;
}

static bool try_embedded_tree(void)
{
	if (!tree_valid(embedded_tree, (size_t)(embedded_tree_end - embedded_tree))) {
		return false;
	}
	platform.tree = embedded_tree;
	platform.tree_source = TREE_EMBEDDED;
	platform.tree_physical = mmu_physical(embedded_tree);
	return true;
}

/* The candidates in order. Garbage in x0 is no error: many ways in leave garbage there. */
static bool find_tree(void)
{
	if (try_tree(TREE_X0, boot_record.x0)) {
		return true;
	}
	if (go_arguments_read(&go_arguments, boot_record.x0, boot_record.x1,
			      boot_record.load_address, read_physical) &&
	    go_arguments.tree_given) {
		if (try_tree(TREE_GO_ARGUMENT, go_arguments.tree_address)) {
			return true;
		}
		go_arguments_keep_tree_word(&go_arguments);
	}
	return try_tree(TREE_LOAD_ADDRESS, boot_record.load_address & ~(GIB - 1)) ||
	       try_embedded_tree();
}

static void find_boot_arguments(void)
{
	int chosen = tree_child(platform.tree, 0, "chosen");
	const char *bootargs = chosen < 0 ? NULL : tree_string(platform.tree, chosen, "bootargs");

	if (go_arguments.text[0] != '\0') {
		boot_arguments = go_arguments.text;
	} else if (bootargs != NULL) {
		boot_arguments = bootargs;
	}
}

static void note_missing(const char *what)
{
	size_t used = strlen(platform.missing);

	snprintf(platform.missing + used, sizeof(platform.missing) - used, "%s%s",
		 used > 0 ? ", " : "", what);
}

static volatile void *map_device(const struct memory_range *registers)
{
	return mmu_map(registers->start, registers->bytes, MMU_DEVICE);
}

static bool map_gic(const struct devices *devices)
{
	struct gic_description *gic_registers = &platform.gic;
	bool mapped;

	gic_registers->version = devices->gic_version;
	gic_registers->redistributor_count = devices->gic_redistributor_count;
	if (devices->gic_version == 0) {
		return false;
	}
	gic_registers->distributor = map_device(&devices->gic_distributor);
	mapped = gic_registers->distributor != NULL;
	if (devices->gic_version == 2) {
		gic_registers->cpu_interface = map_device(&devices->gic_cpu_interface);
		mapped = mapped && gic_registers->cpu_interface != NULL;
	}
	for (uint32_t i = 0; i < devices->gic_redistributor_count; i++) {
		gic_registers->redistributors[i].base = map_device(&devices->gic_redistributors[i]);
		gic_registers->redistributors[i].bytes = devices->gic_redistributors[i].bytes;
		mapped = mapped && gic_registers->redistributors[i].base != NULL;
	}
	return mapped;
}

static void read_devices(void)
{
	struct devices devices;

	devices_read(platform.tree, &devices);
	memcpy(platform.model, devices.model, sizeof(platform.model));
	memcpy(platform.uart_compatible, devices.uart_compatible, sizeof(platform.uart_compatible));
	if (devices.uart != NULL) {
		platform.uart_registers = map_device(&devices.uart_registers);
	}
	if (platform.uart_registers != NULL) {
		platform.uart = devices.uart;
	} else {
		note_missing("console UART");
	}
	platform.gic_found = map_gic(&devices);
	if (!platform.gic_found) {
		note_missing("GIC");
	}
	platform.conduit = devices.conduit;
	if (platform.conduit == PSCI_CONDUIT_NONE) {
		note_missing("PSCI");
	}
	platform.timer_intid = devices.timer_intid;
	if (platform.timer_intid == 0) {
		note_missing("timer interrupt");
	}
}

static void read_memory(void)
{
	taken[taken_count] = (struct memory_range){
		.start = platform.tree_physical,
		.bytes = fdt_totalsize(platform.tree),
	};
	taken[taken_count + 1] = (struct memory_range){
		.start = mmu_image_start(),
		.bytes = mmu_image_end() - mmu_image_start(),
	};
	platform.memory_count = memory_free_ranges(platform.tree, taken, taken_count + 2,
						   platform.memory, PLATFORM_MEMORY_MAX);
	(void)memory_initrd(platform.tree, &platform.initrd);
	if (platform.memory_count == 0) {
		note_missing("memory");
	}
}

bool platform_discover(void)
{
	uint32_t cpu_limit;

	platform = (struct platform){.tree_source = TREE_NONE};
	if (!find_tree()) {
		return false;
	}
	find_boot_arguments();
	read_devices();
	read_memory();
	/* A GICv2 has eight CPU interfaces; further cores could not be reached. */
	cpu_limit = platform.gic_found && platform.gic.version == 2 ? GIC_V2_CPU_MAX : CPU_MAX;
	platform.cpu_count = topology_read(platform.tree, SYSREG_READ(mpidr_el1), platform.cpus,
					   cpu_limit, &platform.cpus_dropped);
	return true;
}

const char *tree_source_name(enum tree_source source)
{
	switch (source) {
	case TREE_X0:
		return "x0";
	case TREE_GO_ARGUMENT:
		return "go argument";
	case TREE_LOAD_ADDRESS:
		return "load address";
	case TREE_EMBEDDED:
		return "embedded";
	case TREE_NONE:
		break;
	}
	return "none";
}

const char *platform_boot_arguments(void)
{
	return boot_arguments;
}

bool platform_find_idle_states(const uint32_t *given, uint32_t count, bool extended,
			       uint32_t *refused)
{
	struct idle_states *states = &platform.idle_states;

	idle_states_limit(embedded_tree, states);
	for (uint32_t i = 0; i < count; i++) {
		if (idle_states_refuse(states, given[i])) {
			*refused = given[i];
			return false;
		}
		idle_states_add(states, given[i], extended);
	}
	if (idle_states_read(platform.tree, extended, states) == 0 &&
	    fdt_check_header(embedded_tree) == 0) {
		(void)idle_states_read(embedded_tree, extended, states);
	}
	return true;
}

void platform_start_watchdog(uint32_t usual_ms)
{
	struct memory_range found;
	const struct watchdog_driver *driver = devices_watchdog(platform.tree, &found);
	volatile void *registers = driver == NULL ? NULL : map_device(&found);

	if (registers != NULL) {
		watchdog_start(driver, registers, usual_ms);
	}
}

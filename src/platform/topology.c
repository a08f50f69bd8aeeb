/*
 * The cores of the machine: /cpus and its cpu-map.
 */
#include "el1bench/topology.h"

#include <libfdt.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "el1bench/cpu.h"
#include "el1bench/tree.h"

/* MPIDR_EL1: Aff3 in bits 39:32, Aff2 to Aff0 in 23:0 (D17.2.101 of the Arm ARM). */
#define MPIDR_AFFINITY UINT64_C(0xff00ffffff)

/* /cpus/cpu-map nests sockets, clusters, cores and threads; deeper than this nothing is read. */
#define MAP_DEPTH_MAX 8

static bool starts_with(const char *text, const char *prefix)
{
	return text != NULL && strncmp(text, prefix, strlen(prefix)) == 0;
}

/* A core that is there and that PSCI can start; its `reg` goes to `*target`. */
static bool usable_cpu(const void *tree, int parent, int node, uint64_t *target)
{
	const char *type = tree_string(tree, node, "device_type");
	uint64_t bytes;

	if (type == NULL || strcmp(type, "cpu") != 0 || !tree_status_okay(tree, node) ||
	    !tree_reg_of_child(tree, parent, node, 0, target, &bytes)) {
		return false;
	}
	return fdt_getprop(tree, node, "enable-method", NULL) == NULL ||
	       fdt_stringlist_search(tree, node, "enable-method", "psci") >= 0;
}

static struct platform_cpu cpu_from_affinity(uint64_t target)
{
	return (struct platform_cpu){
		.target = target,
		.cluster = (uint32_t)((target >> 8 & 0xffff) | (target >> 32 & 0xff) << 16),
		.core = (uint32_t)(target & 0xff),
	};
}

/* Of the usable cores the one that is running this, or the first; negative if there are none. */
static int boot_cpu_node(const void *tree, int parent, uint64_t boot_mpidr)
{
	int first = -FDT_ERR_NOTFOUND;
	int node;

	fdt_for_each_subnode(node, tree, parent)
	{
		uint64_t target;

		if (!usable_cpu(tree, parent, node, &target)) {
			continue;
		}
		if (target == (boot_mpidr & MPIDR_AFFINITY)) {
			return node;
		}
		if (first < 0) {
			first = node;
		}
	}
	return first;
}

/*
 * Numbers clusters and the cores in them as cpu-map lists them. Threads of a core count as cores of
 * their own. `handles[i]` is the phandle of `cores[i]`, 0 if it has none.
 */
static void apply_cpu_map(const void *tree, int parent, const uint32_t *handles,
			  struct platform_cpu *cores, uint32_t count)
{
	int map = tree_child(tree, parent, "cpu-map");
	int depth = 0;
	uint32_t clusters = 0;
	uint32_t core = 0;

	if (map < 0) {
		return;
	}
	for (int node = fdt_next_node(tree, map, &depth); node >= 0 && depth > 0;
	     node = fdt_next_node(tree, node, &depth)) {
		uint64_t handle;

		if (depth > MAP_DEPTH_MAX) {
			continue;
		}
		if (starts_with(fdt_get_name(tree, node, NULL), "cluster")) {
			clusters++;
			core = 0;
			continue;
		}
		if (clusters == 0 || !tree_number(tree, node, "cpu", &handle) || handle == 0) {
			continue;
		}
		for (uint32_t i = 0; i < count; i++) {
			if (handles[i] == handle) {
				cores[i].cluster = clusters - 1;
				cores[i].core = core;
			}
		}
		core++;
	}
}

uint32_t topology_read(const void *tree, uint64_t boot_mpidr, struct platform_cpu *cores,
		       uint32_t capacity, uint32_t *dropped)
{
	uint32_t handles[CPU_MAX] = {0};
	int parent = tree_child(tree, 0, "cpus");
	uint32_t count = 1;
	int boot = -FDT_ERR_NOTFOUND;
	int node;

	*dropped = 0;
	cores[0] = cpu_from_affinity(boot_mpidr & MPIDR_AFFINITY);
	if (parent >= 0 && tree_status_okay(tree, parent)) {
		boot = boot_cpu_node(tree, parent, boot_mpidr);
	}
	if (boot < 0) {
		return 1;
	}

	if (capacity > CPU_MAX) {
		capacity = CPU_MAX;
	}
	fdt_for_each_subnode(node, tree, parent)
	{
		uint64_t target;
		uint32_t index;

		if (!usable_cpu(tree, parent, node, &target)) {
			continue;
		}
		if (node != boot && count == capacity) {
			(*dropped)++;
			continue;
		}
		index = node == boot ? 0 : count++;
		cores[index] = cpu_from_affinity(target);
		handles[index] = fdt_get_phandle(tree, node);
	}
	apply_cpu_map(tree, parent, handles, cores, count);
	return count;
}

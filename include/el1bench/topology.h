/*
 * The cores that the device tree describes. No hardware access; runs on a host too.
 */
#pragma once

#include <stdint.h>

struct platform_cpu {
	uint64_t target;  /* the tree's `reg`: what PSCI calls the core */
	uint32_t cluster; /* from cpu-map, else from affinity 1 and above in `reg` */
	uint32_t core;    /* within its cluster: from cpu-map, else affinity 0 */
};

/*
 * Fills `cores` (`capacity`, at least 1) with the okay cores that PSCI can start, and returns how
 * many there are, at least 1; `*dropped` gets how many more were described. Index 0 is the core
 * that booted: the one whose `reg` equals the affinity fields of `boot_mpidr`, else the first
 * okay one (on the Odroid-C4 `reg` counts cores while MPIDR has them in affinity 1). A tree
 * without any core yields one, made from `boot_mpidr`.
 */
uint32_t topology_read(const void *tree, uint64_t boot_mpidr, struct platform_cpu *cores,
		       uint32_t capacity, uint32_t *dropped);

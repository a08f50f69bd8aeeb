/*
 * What the machine is, as its device tree says, and the device tree that says it. Core 0, MMU on.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "el1bench/cpu.h"
#include "el1bench/gic.h"
#include "el1bench/idle_states.h"
#include "el1bench/memory.h"
#include "el1bench/psci.h"
#include "el1bench/topology.h"

struct uart_driver;

enum tree_source {
	TREE_NONE,
	TREE_X0,           /* the register x0 at entry */
	TREE_GO_ARGUMENT,  /* a word of bare hex digits in U-Boot's `go` */
	TREE_LOAD_ADDRESS, /* the load address rounded down to 1 GiB */
	TREE_EMBEDDED,     /* the board folder's own */
};

#define PLATFORM_MEMORY_MAX 16

struct platform {
	const void *tree;
	enum tree_source tree_source;
	uint64_t tree_physical;
	char model[64]; /* printable, cut to fit; "unknown" if absent */
	struct memory_range memory[PLATFORM_MEMORY_MAX]; /* free RAM: reservations, tree, initrd and
							    image taken out; largest first */
	uint32_t memory_count;
	struct memory_range initrd; /* as the tree names it; nothing is checked; empty if none */
	struct platform_cpu cpus[CPU_MAX]; /* okay cores; index 0 is the one that booted */
	uint32_t cpu_count;
	uint32_t cpus_dropped;          /* okay cores beyond CPU_MAX or, on GICv2, beyond 8 */
	const struct uart_driver *uart; /* NULL: none that we can drive */
	volatile void *uart_registers;
	char uart_compatible[48];
	bool gic_found;
	struct gic_description gic;
	enum psci_conduit conduit;
	uint32_t timer_intid;           /* EL1 non-secure physical timer; 0 if not described */
	struct idle_states idle_states; /* empty before platform_find_idle_states */
	char missing[128];              /* what an ordinary tree would have had, for messages */
};

extern struct platform platform;

/*
 * Finds the tree (candidates in order: x0, hex word of `go`, load address rounded down to 1 GiB,
 * embedded) and reads the machine out of it into `platform`, mapping UART and GIC registers. Copes
 * with whatever is missing. False if no candidate was a valid tree.
 */
bool platform_discover(void);

/* "x0", "go argument", "load address", "embedded", "none". */
const char *tree_source_name(enum tree_source source);

/*
 * The text of the boot arguments: `go`'s words where there were some, else /chosen/bootargs, else
 * "". Valid after platform_discover.
 */
const char *platform_boot_arguments(void);

/*
 * Finds the power states: the `count` that are given or, without any, those of the tree. A tree
 * without idle states leaves it to the board's own to tell them, or to describe those given. Once,
 * after platform_discover. False with the state if one that is given suspends the whole machine,
 * as the board's own tree says.
 */
bool platform_find_idle_states(const uint32_t *given, uint32_t count, bool extended,
			       uint32_t *refused);

/* Maps the registers of the board's watchdog, if there is one to drive, and arms it. */
void platform_start_watchdog(uint32_t usual_ms);

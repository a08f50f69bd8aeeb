/*
 * The devices that the image drives, as the device tree describes them: physical addresses, not
 * yet mapped. No hardware access; runs on a host too.
 */
#pragma once

#include <stdint.h>

#include "el1bench/memory.h"
#include "el1bench/psci.h"

struct uart_driver;
struct watchdog_driver;

#define DEVICES_REDISTRIBUTORS_MAX 4

struct devices {
	const struct uart_driver *uart; /* NULL: none that we can drive */
	struct memory_range uart_registers;
	char uart_compatible[48]; /* of the driven or, if there is no driver, first */
	uint32_t gic_version;     /* 2, 3, or 0 if there is none */
	struct memory_range gic_distributor;
	struct memory_range gic_cpu_interface;                              /* version 2 */
	struct memory_range gic_redistributors[DEVICES_REDISTRIBUTORS_MAX]; /* version 3 */
	uint32_t gic_redistributor_count;
	enum psci_conduit conduit;
	uint32_t timer_intid; /* EL1 non-secure physical timer; 0 if not described */
	char model[64];       /* printable, cut to fit; "unknown" if absent */
};

/* Reads them from a tree that passed `tree_valid`; what is missing or malformed stays empty. */
void devices_read(const void *tree, struct devices *devices);

/* The first watchdog that there is a driver for, and its registers; NULL if there is none. */
const struct watchdog_driver *devices_watchdog(const void *tree, struct memory_range *registers);

/*
 * Stands in for include/el1bench/cpu.h in host tests: the same structure, but the test says which
 * core is the current one.
 */
#pragma once

#define cpu_current cpu_current_of_hardware
#define cpu_index cpu_index_of_hardware
#include_next "el1bench/cpu.h"
#undef cpu_current
#undef cpu_index

struct cpu *cpu_current(void);
uint32_t cpu_index(void);

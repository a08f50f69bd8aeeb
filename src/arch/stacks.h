/*
 * Where stacks lie: a block for each core, and one more whose stack is for the core that reports a
 * fatal exception. src/boot/boot.h has the same layout for assembly; cpu.c asserts it.
 */
#pragma once

#include <stdint.h>

#include "el1bench/cpu.h"

#define STACK_BLOCKS (CPU_MAX + 1)
#define STACK_BLOCK_PANIC CPU_MAX

struct stack_block {
	uint8_t guard_below_emergency[4096]; /* never mapped */
	uint8_t emergency[CPU_EMERGENCY_STACK_BYTES];
	uint8_t guard_below_stack[4096]; /* never mapped */
	uint8_t stack[CPU_STACK_BYTES];
};

extern struct stack_block stacks[STACK_BLOCKS];

/*
 * What the parts of smoke.registers share; private to them.
 */
#pragma once

#include <stdint.h>

#define REGISTERS_STORED 32 /* x0 to x30, NZCV */

/* src/boot/register_check.S */
void register_check(uint64_t after[REGISTERS_STORED]);

/* Interrupts that reached one of the check's handlers. */
extern volatile uint32_t registers_handled;

void registers_light(uint32_t intid, uint32_t source, uint64_t stamp);

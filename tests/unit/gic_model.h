/*
 * What the tests of both GIC drivers share: a journal of device accesses, barriers and handler
 * calls in the order they happen, the current core, and the interrupt entry that the driver
 * installs. For test_gic_*.c only.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "el1bench/barrier.h"
#include "el1bench/counter.h"
#include "el1bench/cpu.h"
#include "el1bench/exception.h"
#include "el1bench/gic.h"
#include "el1bench/mmio.h"

#include "../../src/drivers/gic/hot.h"

#define MODEL_IIDR 0x0200143bU

struct cpu cpus[CPU_MAX];
static uint32_t current;

struct cpu *cpu_current(void)
{
	return &cpus[current];
}

uint32_t cpu_index(void)
{
	return current;
}

static irq_entry_function irq_entry;

void exception_set_irq_entry(irq_entry_function entry)
{
	irq_entry = entry;
}

/* Time passes with every look at it, so that bounded waits end. */
static uint64_t ticks;

uint64_t fake_counter(void)
{
	ticks += 100;
	return ticks;
}

/* One word per event, e.g. "dsb_ishst SGIR=20001 "; tests compare it as a whole. */
static char journal[4096];

static void __attribute__((format(printf, 1, 2))) note(const char *format, ...)
{
	size_t used = strlen(journal);
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(journal + used, sizeof(journal) - used, format, arguments);
	va_end(arguments);
}

void fake_barrier(const char *name)
{
	if (strcmp(name, "cpu_yield") != 0) {
		note("%s ", name);
	}
}

/* The assembly that the drivers install; tests/qemu runs it. Here it is only told apart. */
void interrupt_v2(void)
{
}

void interrupt_v3(void)
{
}

void interrupt_v2_staged(void)
{
}

void interrupt_v3_staged(void)
{
}

void interrupt_call(uint32_t intid, uint32_t source, uint64_t stamp)
{
	gic_handlers[intid](intid, source, stamp);
}

/* The linker's range of light handlers: one byte, whose address stands for a handler. */
extern const char light_handlers_start[];
__asm__(".pushsection .rodata\n"
	".globl light_handlers_start\nlight_handlers_start: .byte 0\n"
	".globl light_handlers_end\nlight_handlers_end: .byte 0\n"
	".popsection");

static void noting_handler(uint32_t intid, uint32_t source, uint64_t stamp)
{
	note("handler(%u,%u,%u) ", intid, source, (unsigned int)stamp);
}

static void common_reset(void)
{
	memset(cpus, 0, sizeof(cpus));
	for (uint32_t index = 0; index < CPU_MAX; index++) {
		cpus[index].index = index;
	}
	current = 0;
	irq_entry = NULL;
	journal[0] = '\0';
	for (uint32_t intid = 0; intid < GIC_INTID_COUNT; intid++) {
		gic_set_handler(intid, NULL);
	}
}

/*
 * plant.print, plant.print-unlocked, plant.print-uart: a planted fault, one print in the middle of
 * a timed interval. The audit must find all three. At run time each is left to one guard: the first
 * to the console's lock; the second has undone that, so that only pacing shows what it costs; the
 * third goes past the console, and only the host sees its bytes arrive.
 */
#include <string.h>

#include "el1bench/benchmark.h"
#include "el1bench/console.h"
#include "el1bench/counter.h"
#include "el1bench/platform.h"
#include "el1bench/uart.h"

static const char text[] = "planted: sixty-four characters in the middle of what is timed..\n";

_Static_assert(sizeof(text) == 65, "as it says");

static uint32_t one_row(uint32_t online)
{
	(void)online;
	return 1;
}

static bool prepare(struct benchmark_run *run)
{
	run->rows[0] = benchmark_row(run, "total", 0, -1, NULL);
	return run->rows[0] != NULL;
}

static void print_to_uart(void)
{
	for (const char *c = text; *c != '\0'; c++) {
		while (!platform.uart->ready(platform.uart_registers)) {
		}
		platform.uart->put(platform.uart_registers, (uint8_t)*c);
	}
}

TIMED static bool sample_print(struct benchmark_run *run)
{
	uint64_t begin = counter_begin();

	console_write(text, strlen(text));
	sample_record(run->rows[0], (int64_t)(counter_end() - begin));
	return true;
}

TIMED static bool sample_unlocked(struct benchmark_run *run)
{
	console_force_unlock();
	return sample_print(run);
}

TIMED static bool sample_uart(struct benchmark_run *run)
{
	uint64_t begin = counter_begin();

	print_to_uart();
	sample_record(run->rows[0], (int64_t)(counter_end() - begin));
	return true;
}

static const struct benchmark plant_print = {
	.name = "plant.print",
	.summary = "prints",
	.row_count = one_row,
	.prepare = prepare,
	.sample = sample_print,
};

static const struct benchmark plant_print_unlocked = {
	.name = "plant.print-unlocked",
	.summary = "prints, the console's lock undone",
	.row_count = one_row,
	.prepare = prepare,
	.sample = sample_unlocked,
};

static const struct benchmark plant_print_uart = {
	.name = "plant.print-uart",
	.summary = "prints past the console",
	.row_count = one_row,
	.prepare = prepare,
	.sample = sample_uart,
};

BENCHMARK(plant_print);
BENCHMARK(plant_print_unlocked);
BENCHMARK(plant_print_uart);

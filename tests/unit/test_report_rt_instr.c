/* sources: src/bench/report_rt_instr.c */
/*
 * The lines for test farms, from rows that the test makes; the fake counter runs at 1 MHz.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "el1bench/console.h"
#include "el1bench/counter.h"
#include "el1bench/cpu.h"
#include "../../src/bench/report_state.h"

#include <string.h>

#define ROWS_MAX 16

struct cpu cpus[CPU_MAX];

static struct sample_row rows[ROWS_MAX];
static struct statistics statistics[ROWS_MAX];
static uint32_t row_count;
static char said[1024];

uint64_t fake_counter(void)
{
	return 0;
}

uint32_t samples_row_count(void)
{
	return row_count;
}

struct sample_row *samples_row(uint32_t index)
{
	assert_true(index < row_count);
	return &rows[index];
}

void console_write(const char *text, size_t bytes)
{
	assert_true(strlen(said) + bytes < sizeof(said));
	strncat(said, text, bytes);
}

static int reset(void **state)
{
	(void)state;
	row_count = 0;
	said[0] = '\0';
	memset(cpus, 0, sizeof(cpus));
	return 0;
}

static void add(const char *benchmark, const char *metric, int32_t cpu, int64_t median)
{
	assert_true(row_count < ROWS_MAX);
	rows[row_count] = (struct sample_row){.benchmark = benchmark, .metric = metric, .cpu = cpu};
	statistics[row_count] = (struct statistics){.n = median < 0 ? 0 : 10, .p50 = median};
	row_count++;
}

static void expect(const char *text)
{
	report_rt_instr(statistics);
	assert_string_equal(said, text);
}

static void a_line_for_each_test_and_core(void **state)
{
	static const char suspend[] = "psci.suspend.core.serial";
	static const char off[] = "psci.cpu-off";
	static const char version[] = "psci.version.parallel";

	(void)state;
	cpus[1].mpidr = 0x80000103;
	add(suspend, "wake-latency", 0, 9);
	add(suspend, "powerdown", 0, 33);
	add(suspend, "wakeup", 0, 6);
	add(suspend, "cache-flush", 0, 0);
	add(suspend, "powerdown", 1, 34);
	add(suspend, "wakeup", 1, 7);
	add(off, "call-to-off", 1, 5);
	add(off, "powerdown", 1, 1);
	add(off, "wakeup", 1, 2);
	add(off, "cache-flush", 1, 3);
	add(version, "el3", 1, 19);
	add("ipi.self", "total", 1, 77);
	expect("<RT_INSTR:psci_suspend_core_serial\t0\t0\t33000\t6000\t0/>\n"
	       "<RT_INSTR:psci_suspend_core_serial\t1\t3\t34000\t7000/>\n"
	       "<RT_INSTR:psci_cpu_off\t1\t3\t1000\t2000\t3000/>\n"
	       "<RT_INSTR:psci_version_parallel\t1\t3\t19000/>\n");
}

static void threads_are_one_level_down(void **state)
{
	static const char version[] = "psci.version.serial";

	(void)state;
	cpus[0].mpidr = 0x81000300; /* as an Odroid-C4's last core */
	cpus[1].mpidr = 0x81020100;
	cpus[2].mpidr = UINT64_C(0x100020103);
	add(version, "el3", 0, 1);
	add(version, "el3", 1, 2);
	add(version, "el3", 2, 3);
	expect("<RT_INSTR:psci_version_serial\t0\t3\t1000/>\n"
	       "<RT_INSTR:psci_version_serial\t2\t1\t2000/>\n"
	       "<RT_INSTR:psci_version_serial\t66049\t3\t3000/>\n");
}

static void rows_without_a_good_sample_are_left_out(void **state)
{
	static const char off[] = "psci.cpu-off";

	(void)state;
	add(off, "powerdown", 0, -1);
	add(off, "wakeup", 0, 2);
	add(off, "powerdown", 1, 1);
	add(off, "wakeup", 1, -1);
	add(off, "cache-flush", 1, 3);
	add(off, "powerdown", SAMPLE_NO_CPU, 1);
	cpus[1].mpidr = 0x80000001;
	expect("<RT_INSTR:psci_cpu_off\t0\t1\t1000/>\n");
}

static void long_times_fit(void **state)
{
	(void)state;
	add("psci.cpu-off", "powerdown", 0, INT64_C(10000000000000));
	expect("<RT_INSTR:psci_cpu_off\t0\t0\t10000000000000000/>\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_line_for_each_test_and_core, reset),
		cmocka_unit_test_setup(threads_are_one_level_down, reset),
		cmocka_unit_test_setup(rows_without_a_good_sample_are_left_out, reset),
		cmocka_unit_test_setup(long_times_fit, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

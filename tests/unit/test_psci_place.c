/* sources: src/suites/psci/psci_suite.c */
/*
 * The place of a core among those of its cluster that have called.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../src/suites/psci/psci_suite.h"
#include "el1bench/image.h"
#include "el1bench/platform.h"
#include "el1bench/psci.h"
#include "el1bench/smp.h"

#define CORES 6

struct platform platform;

uint32_t smp_online_count(void)
{
	return CORES;
}

/* Positions are not the cores' numbers. */
uint32_t smp_online_cpu(uint32_t position)
{
	return position + 2;
}

uint32_t psci_version(void)
{
	return 0;
}

bool benchmark_skip(struct benchmark_run *run, const char *reason, uint64_t a, uint64_t b,
		    uint64_t c)
{
	(void)run;
	(void)reason;
	(void)(a + b + c);
	return false;
}

struct sample_row *benchmark_row(struct benchmark_run *run, const char *metric, int32_t cpu,
				 int32_t peer, const char *factors)
{
	(void)run;
	(void)metric;
	(void)(cpu + peer);
	(void)factors;
	return NULL;
}

const struct arguments *image_arguments(void)
{
	return NULL;
}

/* The first four are a cluster, the others another one. */
static void check(const uint64_t called[CORES], const uint32_t places[CORES])
{
	for (uint32_t position = 0; position < CORES; position++) {
		platform.cpus[position + 2].cluster = position / 4;
		psci_called[position] = called[position];
	}
	for (uint32_t position = 0; position < CORES; position++) {
		if (called[position] != 0) {
			assert_int_equal(psci_place(position), places[position]);
		}
	}
}

static void each_cluster_has_an_order(void **state)
{
	(void)state;
	check((uint64_t[]){30, 10, 40, 20, 5, 50}, (uint32_t[]){2, 0, 3, 1, 0, 1});
	check((uint64_t[]){30, 10, 40, 20, 60, 50}, (uint32_t[]){2, 0, 3, 1, 1, 0});
}

static void who_takes_no_part_does_not_count(void **state)
{
	(void)state;
	check((uint64_t[]){0, 10, 40, 20, 0, 50}, (uint32_t[]){0, 0, 2, 1, 0, 0});
}

static void a_tick_that_is_shared(void **state)
{
	(void)state;
	/* Two first ones; two last ones; all at once: all are the last. */
	check((uint64_t[]){10, 10, 40, 20, 7, 7}, (uint32_t[]){0, 0, 3, 2, 1, 1});
	check((uint64_t[]){30, 10, 30, 20, 1, 2}, (uint32_t[]){3, 0, 3, 1, 0, 1});
	check((uint64_t[]){10, 10, 10, 10, 1, 2}, (uint32_t[]){3, 3, 3, 3, 0, 1});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_cluster_has_an_order),
		cmocka_unit_test(who_takes_no_part_does_not_count),
		cmocka_unit_test(a_tick_that_is_shared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* sources: src/suites/ipi/sweep.c */
/*
 * Sweeps: every place gets as many samples as asked for, there and back, until the budget is used
 * up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../../src/suites/ipi/sweep.h"
#include "el1bench/arguments.h"
#include "el1bench/counter.h"

#define PLACES 3

static struct arguments arguments;
static struct benchmark_run run;
static struct sample_row rows[PLACES];
static struct sweep sweep;
static bool warming;
static uint64_t now;
static uint64_t visit_ticks;
static bool visits_fail;
static char journal[4096];
static char noted[256];

uint64_t fake_counter(void)
{
	return now;
}

bool samples_are_warming_up(void)
{
	return warming;
}

const struct arguments *benchmark_arguments(void)
{
	return &arguments;
}

void benchmark_note(const struct benchmark_run *noting, const char *text, uint64_t a, uint64_t b,
		    uint64_t c)
{
	assert_ptr_equal(noting, &run);
	assert_non_null(text);
	(void)snprintf(noted, sizeof(noted), "%u %u %u", (unsigned int)a, (unsigned int)b,
		       (unsigned int)c);
}

static bool visit(struct benchmark_run *visiting, uint32_t place, uint32_t count)
{
	size_t used = strlen(journal);

	assert_ptr_equal(visiting, &run);
	assert_in_range(place, 0, PLACES - 1);
	(void)snprintf(journal + used, sizeof(journal) - used, "%ux%u ", place, count);
	now += visit_ticks;
	if (!warming) {
		rows[place].count += count;
	}
	return !visits_fail;
}

/* As the engine: one call a round. */
static bool rounds(uint32_t count)
{
	for (run.index = 0; run.index < count; run.index++) {
		if (!sweep_sample(&run, &sweep)) {
			return false;
		}
	}
	return true;
}

static int reset(void **state)
{
	(void)state;
	memset(rows, 0, sizeof(rows));
	arguments = (struct arguments){.budget_ms = 1000, .warmup = 4};
	run = (struct benchmark_run){.samples = 20, .rows = {rows}};
	sweep = (struct sweep){.places = PLACES, .visit = visit};
	warming = false;
	now = 0;
	visit_ticks = 0;
	visits_fail = false;
	journal[0] = '\0';
	noted[0] = '\0';
	return 0;
}

static void there_and_back_in_blocks(void **state)
{
	(void)state;
	assert_true(rounds(20));
	assert_string_equal(journal, "0x8 1x8 2x8 2x8 1x8 0x8 0x4 1x4 2x4 ");
	sweep_note(&run, &sweep, PLACES);
	assert_string_equal(noted, "");
}

static void warm_up_is_as_long_as_asked(void **state)
{
	(void)state;
	warming = true;
	assert_true(rounds(4));
	warming = false;
	run.samples = 1;
	assert_true(rounds(1));
	assert_string_equal(journal, "0x4 1x4 2x4 2x1 1x1 0x1 ");
}

static void the_budget_ends_it_and_says_so(void **state)
{
	(void)state;
	visit_ticks = 250000; /* a quarter of the budget */
	assert_true(rounds(20));
	assert_string_equal(journal, "0x8 1x8 2x8 2x8 ");
	sweep_note(&run, &sweep, PLACES);
	assert_string_equal(noted, "1000 8 20");
}

static void warm_up_takes_a_quarter_of_it_at_most(void **state)
{
	(void)state;
	visit_ticks = 200000;
	warming = true;
	assert_true(rounds(4));
	assert_string_equal(journal, "0x4 1x4 ");
	warming = false;
	journal[0] = '\0';
	assert_true(rounds(20));
	assert_string_equal(journal, "2x8 1x8 0x8 ");
}

static void a_failure_ends_it(void **state)
{
	(void)state;
	visits_fail = true;
	assert_false(rounds(20));
	assert_string_equal(journal, "0x8 ");
}

static void the_bound_is_the_budget_or_less(void **state)
{
	(void)state;
	assert_in_range(sweep_bound_ms(&run, &sweep), 1, 1100);
	run.samples = 1000000;
	assert_int_equal(sweep_bound_ms(&run, &sweep), 2000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(there_and_back_in_blocks, reset),
		cmocka_unit_test_setup(warm_up_is_as_long_as_asked, reset),
		cmocka_unit_test_setup(the_budget_ends_it_and_says_so, reset),
		cmocka_unit_test_setup(warm_up_takes_a_quarter_of_it_at_most, reset),
		cmocka_unit_test_setup(a_failure_ends_it, reset),
		cmocka_unit_test_setup(the_bound_is_the_budget_or_less, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* sources: src/suites/psci/wake_sweep.c src/bench/random.c */
/*
 * Sweeps over firmware whose entry, exit and last look for a wake-up are known: the window comes to
 * cover the entry, the worst moment is met, and nothing is recorded but what happened.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../src/suites/psci/wake_sweep.h"
#include "el1bench/random.h"

#define SAMPLES 400
#define LEAD 300     /* from where the wake-up is arranged to the call */
#define GIVING_UP 50 /* from the look to the caller */
#define LONGEST 2000000

static struct firmware {
	int64_t looks; /* until here it gives up when a wake-up is pending; 0: it never looks */
	int64_t entry;
	int64_t exit;
	bool powers_down;
} firmware;

static struct sample_row rows[2];
static int64_t values[2][SAMPLES];
static uint64_t window;
static uint32_t given_up;

void sample_record(struct sample_row *row, int64_t ticks)
{
	values[row - rows][row->count++] = ticks;
}

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* What a core sees that arranges to wake `ticks` after tick 1000. */
static void sleep_through(uint64_t ticks)
{
	int64_t begin = 1000 + LEAD;
	int64_t due = 1000 + (int64_t)ticks;
	bool gives_up = firmware.looks != 0 && due <= begin + firmware.looks;
	int64_t awake = later(due, begin + firmware.entry) + firmware.exit;
	struct sleeper sleeper = {
		.due = (uint64_t)due,
		.ticks = ticks,
		.powers_down = firmware.powers_down,
		.outcome = {.begin = (uint64_t)begin,
			    .back = (uint64_t)(gives_up ? begin + firmware.looks + GIVING_UP
							: awake),
			    .at_entry = firmware.powers_down && !gives_up},
	};

	given_up += gives_up;
	wake_sweep_record(&window, &sleeper, &rows[0], &rows[1]);
}

static void sweep(struct firmware described)
{
	struct random_state random;
	struct benchmark_run run = {.random = &random};

	firmware = described;
	window = 0;
	given_up = 0;
	rows[0].count = rows[1].count = 0;
	random_seed(&random, 7);
	for (run.index = 0; run.index < SAMPLES; run.index++) {
		sleep_through(wake_sweep_draw(&run, window, LONGEST));
	}
	assert_int_equal(rows[0].count, SAMPLES);
	assert_int_equal(rows[1].count, SAMPLES);
}

/* The longest delay after the call, and the longest latency, of all samples. */
static int64_t longest(bool latency)
{
	int64_t most = 0;

	for (uint32_t i = 0; i < SAMPLES; i++) {
		assert_true(values[0][i] >= values[1][i]);
		most = later(most, latency ? values[1][i] : values[0][i] - values[1][i]);
	}
	return most;
}

static void assert_swept(struct firmware described)
{
	int64_t all = described.entry + described.exit;
	int64_t worst = later(all - described.looks,
			      described.looks == 0 ? 0 : described.looks + GIVING_UP);

	sweep(described);
	assert_true(longest(false) >= all);
	assert_true(longest(false) <= 10 * (all + LEAD));
	assert_true(longest(true) <= worst);
	assert_true(longest(true) >= worst * 9 / 10);
}

static void firmware_that_never_looks(void **state)
{
	(void)state;
	assert_swept((struct firmware){.entry = 50000, .exit = 700, .powers_down = true});
	assert_swept((struct firmware){.entry = 400, .exit = 30000, .powers_down = true});
	assert_swept((struct firmware){.entry = 200, .exit = 40});
	assert_int_equal(given_up, 0);
}

static void firmware_that_gives_up(void **state)
{
	(void)state;
	assert_swept(
		(struct firmware){.looks = 500, .entry = 50000, .exit = 700, .powers_down = true});
	assert_true(given_up > 1);
	assert_swept((struct firmware){
		.looks = 40000, .entry = 50000, .exit = 700, .powers_down = true});
	assert_true(given_up > SAMPLES / 20);
}

static void a_window_has_its_limit(void **state)
{
	(void)state;
	sweep((struct firmware){.entry = 3000000, .exit = 700, .powers_down = true});
	assert_true(longest(false) <= LONGEST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(firmware_that_never_looks),
		cmocka_unit_test(firmware_that_gives_up),
		cmocka_unit_test(a_window_has_its_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

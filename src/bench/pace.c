/*
 * How the counter's step is told from the speed of reading it. Where the counter is slower than a
 * read, two reads in a row often agree, and the smallest move ever seen is the step. Where it is
 * faster they never do, and the step is what all moves have in common: the reads are spaced at
 * random, or the loop's own length would come out.
 */
#include "pace.h"

#include "common_divisor.h"
#include "el1bench/barrier.h"
#include "el1bench/counter.h"
#include "el1bench/random.h"
#include "el1bench/sysreg.h"
#include "el1bench/timed.h"

#define STEP_READS 256
#define STEP_POLLS 100000 /* a counter that stands still this long has no step to find */
#define STEP_SPACING 64   /* spins between two reads, at most */
#define CALIBRATION_SPINS 4096
#define STEPS_COVERED 8 /* by the gaps: the last, partial step then weighs little */
#define SPIN_RANGE_MIN 2
#define SPIN_RANGE_MAX (1U << 20)
#define PSTATE_I (1U << 7)

static uint32_t counter_step;
static uint32_t spin_range;

TIMED void pace_spin(uint32_t spins)
{
	while (spins-- != 0) {
		__asm__ volatile("" : : : "memory");
	}
}

/* A gap of random length; one instruction more or less, as the turns of the loop alone take two. */
static void random_gap(struct random_state *random)
{
	uint32_t draw = random_below(random, 2 * STEP_SPACING);

	__asm__ volatile("tbz %w0, #0, 1f\n\tnop\n1:" : : "r"(draw));
	pace_spin(draw / 2);
}

static uint32_t measure_step(void)
{
	struct random_state random;
	uint64_t smallest = UINT64_MAX;
	uint64_t divisor = 0;
	uint64_t last = counter_begin();
	bool agreed = false;
	uint32_t moves = 0;

	random_seed(&random, 0);
	for (uint32_t polls = 0; moves < STEP_READS && polls < STEP_POLLS; polls++) {
		uint64_t now = counter_begin();

		if (now == last) {
			agreed = true;
			continue;
		}
		if ((int64_t)(now - last) > 0) {
			smallest = now - last < smallest ? now - last : smallest;
			divisor = common_divisor(now - last, divisor);
			moves++;
		}
		random_gap(&random);
		last = agreed ? counter_begin() : now;
	}
	if (moves == 0) {
		return 1;
	}
	smallest = agreed ? smallest : divisor;
	return smallest > UINT32_MAX ? UINT32_MAX : (uint32_t)smallest;
}

static uint32_t measure_spin_range(void)
{
	uint64_t begin;
	uint64_t ticks;
	uint64_t range;

	pace_spin(CALIBRATION_SPINS);
	begin = counter_begin();
	pace_spin(CALIBRATION_SPINS);
	ticks = counter_end() - begin;
	if (ticks == 0) {
		ticks = 1;
	}
	range = (uint64_t)CALIBRATION_SPINS * STEPS_COVERED * counter_step / ticks + 1;
	if (range < SPIN_RANGE_MIN) {
		return SPIN_RANGE_MIN;
	}
	return range > SPIN_RANGE_MAX ? SPIN_RANGE_MAX : (uint32_t)range;
}

uint32_t pace_counter_step(void)
{
	if (counter_step == 0) {
		counter_step = measure_step();
	}
	return counter_step;
}

uint32_t pace_spin_range(void)
{
	if (spin_range == 0) {
		(void)pace_counter_step();
		spin_range = measure_spin_range();
	}
	return spin_range;
}

void pace_call(void (*function)(void), uint32_t stack_offset)
{
	uint64_t masked = SYSREG_READ(daif) & PSTATE_I;
	volatile uint8_t *gap = __builtin_alloca(stack_offset + 16);

	__asm__ volatile("" : : "r"(gap) : "memory"); /* the gap must be there */
	irq_unmask();
	function();
	if (masked != 0) {
		irq_mask();
	}
}

/*
 * spawn.cpu: a core, from CPU_ON to ready: in C at EL1, its MMU on. The last online core goes down
 * through CPU_OFF, outside of the interval, and comes back.
 *
 * Metrics `first-instruction` and `set-up` add up to `total`.
 */
#include "el1bench/smp.h"
#include "spawn.h"

#define CYCLE_US 4000
#define SAMPLES 100

enum { TOTAL, FIRST_INSTRUCTION, SET_UP, ROWS };

static uint32_t target;

static uint32_t samples_of(uint32_t asked)
{
	return spawn_samples(asked, SAMPLES);
}

static uint32_t sample_us(uint32_t online)
{
	(void)online;
	return CYCLE_US;
}

static uint32_t row_count(uint32_t online)
{
	(void)online;
	return ROWS;
}

UNTIMED static bool prepare(struct benchmark_run *run)
{
	static const char *const metrics[ROWS] = {"total", "first-instruction", "set-up"};

	if (smp_online_count() < 2) {
		return benchmark_skip(run, "it takes two cores", 0, 0, 0);
	}
	target = smp_online_cpu(smp_online_count() - 1);
	for (uint32_t i = 0; i < ROWS; i++) {
		run->rows[i] = benchmark_row(run, metrics[i], 0, (int32_t)target, NULL);
		if (run->rows[i] == NULL) {
			return false;
		}
	}
	return true;
}

TIMED static bool sample(struct benchmark_run *run)
{
	struct smp_power power;
	enum smp_power_result result = smp_power_off(target, &power);

	if (result == SMP_POWER_DONE) {
		result = smp_power_on(target, &power);
	}
	if (result == SMP_POWER_REFUSED) {
		return benchmark_fail(run, "core %lu: firmware returned %ld", target,
				      (uint64_t)power.result, 0);
	}
	if (result != SMP_POWER_DONE) {
		return benchmark_fail(run, "core %lu did not go down and come back", target, 0, 0);
	}
	sample_record(run->rows[TOTAL], (int64_t)(power.end - power.begin));
	sample_record(run->rows[FIRST_INSTRUCTION], (int64_t)(power.entry - power.begin));
	sample_record(run->rows[SET_UP], (int64_t)(power.end - power.entry));
	return true;
}

TIMED static void finish(struct benchmark_run *run)
{
	(void)run;
	(void)smp_power_restore(target);
}

static const struct benchmark spawn_cpu = {
	.name = "spawn.cpu",
	.summary = "a core, through CPU_ON",
	.sample_count = samples_of,
	.hazard = 1,
	.sample_us = sample_us,
	.row_count = row_count,
	.prepare = prepare,
	.sample = sample,
	.finish = finish,
};

BENCHMARK(spawn_cpu);

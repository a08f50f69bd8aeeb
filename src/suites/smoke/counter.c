/*
 * smoke.counter: the counter never runs backwards, neither on a core nor from one core to another
 * and back, and all cores give it the same frequency.
 */
#include <stddef.h>

#include "el1bench/benchmark.h"
#include "el1bench/counter.h"
#include "el1bench/cpu.h"
#include "el1bench/ping_pong.h"
#include "el1bench/smp.h"

#define READS_PER_CORE 10000
#define EXCHANGES_PER_CORE 500
#define CALL_TIMEOUT_MS 5000

static volatile uint32_t backward_reads;

TIMED static void read_in_a_row(void *unused)
{
	uint64_t last = counter_begin();
	uint32_t backwards = 0;

	(void)unused;
	for (uint32_t i = 0; i < READS_PER_CORE; i++) {
		uint64_t now = counter_begin();

		if ((int64_t)(now - last) < 0) {
			backwards++;
		}
		last = now;
	}
	backward_reads = backwards;
}

TIMED static bool exchange(struct benchmark_run *run, uint32_t cpu)
{
	struct ping_pong_reading reading;

	if (!ping_pong_start(cpu)) {
		return benchmark_fail(run, "core %lu did not start to answer", cpu, 0, 0);
	}
	for (uint32_t i = 0; i < EXCHANGES_PER_CORE; i++) {
		if (!ping_pong_read(&reading)) {
			return benchmark_fail(run, "core %lu did not answer question %lu", cpu, i,
					      0);
		}
		if ((int64_t)(reading.there - reading.before) < 0) {
			return benchmark_fail(run,
					      "core %lu reads %lu ticks less than core 0 before it",
					      cpu, reading.before - reading.there, 0);
		}
		if ((int64_t)(reading.after - reading.there) < 0) {
			return benchmark_fail(run,
					      "core 0 reads %lu ticks less than core %lu before it",
					      reading.there - reading.after, cpu, 0);
		}
	}
	if (!ping_pong_stop()) {
		return benchmark_fail(run, "core %lu does not stop answering", cpu, 0, 0);
	}
	return true;
}

TIMED static bool sample(struct benchmark_run *run)
{
	for (uint32_t position = 0; position < smp_online_count(); position++) {
		uint32_t cpu = smp_online_cpu(position);

		if (!smp_call(cpu, read_in_a_row, NULL, CALL_TIMEOUT_MS)) {
			return benchmark_fail(run, "core %lu did not finish its reads", cpu, 0, 0);
		}
		if (backward_reads != 0) {
			return benchmark_fail(run,
					      "core %lu saw the counter run backwards %lu times",
					      cpu, backward_reads, 0);
		}
		if (cpus[cpu].counter_hz != cpus[0].counter_hz) {
			return benchmark_fail(run, "core %lu has CNTFRQ %lu, core 0 has %lu", cpu,
					      cpus[cpu].counter_hz, cpus[0].counter_hz);
		}
		if (position != 0 && !exchange(run, cpu)) {
			return false;
		}
	}
	return true;
}

TIMED static void finish(struct benchmark_run *run)
{
	(void)run;
	(void)ping_pong_stop();
}

static const struct benchmark smoke_counter = {
	.name = "smoke.counter",
	.summary = "the counter never runs backwards, on a core or across cores",
	.sample = sample,
	.finish = finish,
};

BENCHMARK(smoke_counter);

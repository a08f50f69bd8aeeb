/*
 * smoke.cores: every core that the device tree describes is up, and each does work it is handed
 * and knows its own index.
 */
#include <stddef.h>

#include "el1bench/benchmark.h"
#include "el1bench/cpu.h"
#include "el1bench/platform.h"
#include "el1bench/smp.h"

#define CALL_TIMEOUT_MS 1000

static volatile uint32_t answered_index;

TIMED static void answer_with_index(void *unused)
{
	(void)unused;
	answered_index = cpu_index();
}

TIMED static bool sample(struct benchmark_run *run)
{
	uint32_t online = smp_online_count();

	for (uint32_t position = 0; position < online; position++) {
		uint32_t cpu = smp_online_cpu(position);

		answered_index = CPU_MAX;
		if (!smp_call(cpu, answer_with_index, NULL, CALL_TIMEOUT_MS)) {
			return benchmark_fail(run, "core %lu did not finish its work", cpu, 0, 0);
		}
		if (answered_index != cpu) {
			return benchmark_fail(run, "core %lu takes itself for core %lu", cpu,
					      answered_index, 0);
		}
	}
	if (online != platform.cpu_count) {
		return benchmark_fail(run, "%lu of %lu cores are up", online, platform.cpu_count,
				      0);
	}
	return true;
}

static const struct benchmark smoke_cores = {
	.name = "smoke.cores",
	.summary = "every core is up and does work",
	.sample = sample,
};

BENCHMARK(smoke_cores);

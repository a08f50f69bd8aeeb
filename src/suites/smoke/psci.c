/*
 * smoke.psci: the firmware answers as the specification (Arm DEN 0022) says it must: a version, its
 * own features, the state of the running core, INVALID_PARAMETERS for a core that is not one, and
 * NOT_SUPPORTED for a function that is not one.
 */
#include "el1bench/benchmark.h"
#include "el1bench/platform.h"
#include "el1bench/psci.h"

#define PSCI_VERSION_0_2 0x2U
#define PSCI_VERSION_1_0 0x10000U
#define AFFINITY_STATE_ON 0
#define NO_SUCH_FUNCTION 0x8400001fU
#define NO_SUCH_CORE UINT64_C(0xff00ffffff) /* all affinity fields at their highest */

static bool prepare(struct benchmark_run *run)
{
	if (platform.conduit == PSCI_CONDUIT_NONE) {
		return benchmark_fail(run, "the device tree has no usable PSCI node", 0, 0, 0);
	}
	return true;
}

TIMED static bool sample(struct benchmark_run *run)
{
	int64_t version = psci_call(PSCI_VERSION, 0, 0, 0);
	int64_t result;

	if (version < PSCI_VERSION_0_2) {
		return benchmark_fail(run, "PSCI_VERSION answers %ld", (uint64_t)version, 0, 0);
	}
	result = psci_call(PSCI_AFFINITY_INFO, platform.cpus[0].target, 0, 0);
	if (result != AFFINITY_STATE_ON) {
		return benchmark_fail(run, "AFFINITY_INFO of the running core answers %ld",
				      (uint64_t)result, 0, 0);
	}
	result = psci_call(PSCI_AFFINITY_INFO, NO_SUCH_CORE, 0, 0);
	if (result != PSCI_INVALID_PARAMETERS) {
		return benchmark_fail(run, "AFFINITY_INFO of no core answers %ld", (uint64_t)result,
				      0, 0);
	}
	if (version >= PSCI_VERSION_1_0) {
		result = psci_call(PSCI_FEATURES, PSCI_CPU_ON, 0, 0);
		if (result < 0) {
			return benchmark_fail(run, "PSCI_FEATURES of CPU_ON answers %ld",
					      (uint64_t)result, 0, 0);
		}
	}
	result = psci_call(NO_SUCH_FUNCTION, 0, 0, 0);
	if (result != PSCI_NOT_SUPPORTED) {
		return benchmark_fail(run, "a function that does not exist answers %ld",
				      (uint64_t)result, 0, 0);
	}
	return true;
}

static const struct benchmark smoke_psci = {
	.name = "smoke.psci",
	.summary = "firmware answers as PSCI says it must",
	.prepare = prepare,
	.sample = sample,
};

BENCHMARK(smoke_psci);

/*
 * What the PSCI benchmarks share.
 */
#include "psci_suite.h"

#include "el1bench/image.h"
#include "el1bench/psci.h"

#define SLOW_SAMPLES 50U
#define SWEEP_SAMPLES 200U

bool psci_available(struct benchmark_run *run)
{
	if (psci_version() == 0) {
		return benchmark_skip(run, "there is no PSCI firmware", 0, 0, 0);
	}
	return true;
}

static uint32_t at_most(uint32_t most, uint32_t asked)
{
	return image_arguments()->samples_given || asked < most ? asked : most;
}

uint32_t psci_slow_samples(uint32_t asked)
{
	return at_most(SLOW_SAMPLES, asked);
}

uint32_t psci_sweep_samples(uint32_t asked)
{
	return at_most(SWEEP_SAMPLES, asked);
}

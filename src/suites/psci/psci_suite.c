/*
 * What the PSCI benchmarks share.
 */
#include "psci_suite.h"

#include "el1bench/image.h"
#include "el1bench/psci.h"

#define SLOW_SAMPLES 50U

bool psci_available(struct benchmark_run *run)
{
	if (psci_version() == 0) {
		return benchmark_skip(run, "there is no PSCI firmware", 0, 0, 0);
	}
	return true;
}

uint32_t psci_slow_samples(uint32_t asked)
{
	return image_arguments()->samples_given || asked < SLOW_SAMPLES ? asked : SLOW_SAMPLES;
}

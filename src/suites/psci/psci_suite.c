/*
 * What the PSCI benchmarks share.
 */
#include "psci_suite.h"

#include "el1bench/image.h"
#include "el1bench/platform.h"
#include "el1bench/psci.h"
#include "el1bench/smp.h"

#define SLOW_SAMPLES 50U
#define SWEEP_SAMPLES 200U

uint64_t psci_called[CPU_MAX];

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

struct sample_row *psci_place_row(struct benchmark_run *run, int32_t cpu)
{
	struct sample_row *row = benchmark_row(run, "arrival", cpu, SAMPLE_NO_CPU, NULL);

	if (row != NULL) {
		row->unit = SAMPLE_UNIT_PLACE;
	}
	return row;
}

TIMED_BETWEEN uint32_t psci_place(uint32_t position)
{
	uint32_t cluster = platform.cpus[smp_online_cpu(position)].cluster;
	uint32_t members = 0;
	uint32_t earlier = 0;
	uint32_t later = 0;

	for (uint32_t other = 0; other < smp_online_count(); other++) {
		int64_t after = (int64_t)(psci_called[other] - psci_called[position]);

		if (psci_called[other] != 0 &&
		    platform.cpus[smp_online_cpu(other)].cluster == cluster) {
			earlier += after < 0;
			later += after > 0;
			members++;
		}
	}
	return later == 0 ? members - 1 : earlier;
}

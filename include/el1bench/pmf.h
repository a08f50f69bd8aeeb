/*
 * The time stamps that TF-A built with ENABLE_RUNTIME_INSTRUMENTATION takes at EL3 (its Performance
 * Measurement Framework). There is one slot for each core and stamp: the last event wins, so a core
 * reads them before its next PSCI call.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum pmf_stamp {
	PMF_ENTER_PSCI,
	PMF_EXIT_PSCI,
	PMF_ENTER_LOW_POWER, /* right before the final WFI */
	PMF_EXIT_LOW_POWER,
	PMF_ENTER_CACHE_FLUSH,
	PMF_EXIT_CACHE_FLUSH,
	PMF_STAMPS
};

/*
 * Finds out whether firmware has stamps, by the vendor's function identifier or the old one of SiP
 * services. Core 0, after psci_start, not timed.
 */
void pmf_start(void);
bool pmf_available(void);

/*
 * Reads a stamp of the calling core, ticks; false if firmware does not answer, whatever it leaves
 * in x1. It is no PSCI call: the stamps stay as they are. Any core, timed code.
 */
bool pmf_read(enum pmf_stamp stamp, uint64_t *ticks);

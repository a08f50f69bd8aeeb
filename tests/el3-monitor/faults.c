/*
 * The names of faults, and which of them are on.
 */
#include "faults.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "el3-monitor."
#define FAULT_ALL UINT32_MAX /* cores */

static const char *const fault_names[FAULTS] = {
	"refuse-suspend", "refuse-off", "inline",  "early",       "no-start",   "late-start",
	"late-restart",   "no-answer",  "no-wake", "miss-timer",  "stop-timer", "keep-banked",
	"keep-interface", "spurious",   "stale",   "slow-entry",  "slow-exit",  "gives-up",
	"bad-mpidr",      "old-pmf",    "no-pmf",  "under-count", "no-stat",
};

static struct {
	bool on;
	uint32_t core;
} faults[FAULTS];

void faults_read(const char *arguments)
{
	for (uint32_t i = 0; i < FAULTS && arguments != NULL; i++) {
		const char *at = arguments;

		while ((at = strstr(at, PREFIX)) != NULL) {
			size_t length = strlen(fault_names[i]);

			at += strlen(PREFIX);
			if (strncmp(at, fault_names[i], length) == 0) {
				char next = at[length];

				faults[i].on = true;
				faults[i].core =
					next == '=' ? (uint32_t)atoi(at + length + 1) : FAULT_ALL;
			}
		}
	}
}

bool fault_hits(enum fault fault, uint32_t core)
{
	return faults[fault].on && (faults[fault].core == FAULT_ALL || faults[fault].core == core);
}

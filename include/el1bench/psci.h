/*
 * Power State Coordination Interface (Arm DEN 0022). The conduit comes from the device tree; before
 * `psci_start`, or without a PSCI node, every call returns PSCI_NOT_SUPPORTED.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum psci_function {
	PSCI_VERSION = 0x84000000,
	PSCI_CPU_SUSPEND = 0xc4000001,
	PSCI_CPU_OFF = 0x84000002,
	PSCI_CPU_ON = 0xc4000003,
	PSCI_AFFINITY_INFO = 0xc4000004,
	PSCI_MIGRATE_INFO_TYPE = 0x84000006,
	PSCI_SYSTEM_OFF = 0x84000008,
	PSCI_SYSTEM_RESET = 0x84000009,
	PSCI_FEATURES = 0x8400000a,
	PSCI_STAT_RESIDENCY = 0xc4000010,
	PSCI_STAT_COUNT = 0xc4000011,
	SMCCC_VERSION = 0x80000000,
};

enum psci_result {
	PSCI_SUCCESS = 0,
	PSCI_NOT_SUPPORTED = -1,
	PSCI_INVALID_PARAMETERS = -2,
	PSCI_DENIED = -3,
	PSCI_ALREADY_ON = -4,
	PSCI_ON_PENDING = -5,
	PSCI_INTERNAL_FAILURE = -6,
	PSCI_NOT_PRESENT = -7,
	PSCI_DISABLED = -8,
	PSCI_INVALID_ADDRESS = -9,
};

/* In the answer to PSCI_FEATURES of CPU_SUSPEND: power states have the extended format. */
#define PSCI_FEATURE_EXTENDED 2

enum psci_conduit { PSCI_CONDUIT_NONE, PSCI_CONDUIT_HVC, PSCI_CONDUIT_SMC };

/* Sets the conduit and reads PSCI_VERSION; false if firmware does not answer like 0.2 or later. */
bool psci_start(enum psci_conduit conduit);

/* Any call; the 32-bit result sign-extended. Any core, EL1. */
int64_t psci_call(uint32_t function_id, uint64_t x1, uint64_t x2, uint64_t x3);

/*
 * PSCI_STAT_RESIDENCY (microseconds) or PSCI_STAT_COUNT (5.21, 5.22) of a core, by its MPIDR's
 * affinity, in a power state. Ask PSCI_FEATURES first. Any core, EL1, timed code.
 */
uint64_t psci_stat(uint32_t function_id, uint64_t target, uint32_t state);

struct smccc_result;

/*
 * Any call that is not PSCI's but goes the same way, with all that it returns; false without a
 * conduit. Any core, EL1, timed code.
 */
bool psci_conduit_call(uint32_t function_id, uint64_t x1, uint64_t x2, uint64_t x3,
		       struct smccc_result *result);

/* Major in bits 31:16, minor in 15:0; 0 before `psci_start` or without firmware. */
uint32_t psci_version(void);

/* "hvc", "smc" or "none". */
const char *psci_conduit_name(void);

/* The specification's name of a result, e.g. "ALREADY_ON"; "unknown result" for others. */
const char *psci_result_name(int64_t result);

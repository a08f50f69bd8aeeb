/*
 * PSCI calls through the conduit that the device tree names. Holds the conduit and the version, no
 * other state; a call is one indirect call and a sign extension, so that timing it times firmware.
 */
#include "el1bench/psci.h"

#include <stddef.h>

#include "el1bench/smccc.h"
#include "el1bench/timed.h"

#define VERSION_0_2 0x00000002U
#define VERSION_NEGATIVE 0x80000000U /* an error code, not a version */

static smccc_function conduit_call;
static enum psci_conduit conduit_kind = PSCI_CONDUIT_NONE;
static uint32_t version;

UNTIMED bool psci_start(enum psci_conduit conduit)
{
	uint32_t answer;

	version = 0;
	conduit_kind = conduit;
	conduit_call = NULL;
	if (conduit == PSCI_CONDUIT_HVC) {
		conduit_call = smccc_hvc;
	} else if (conduit == PSCI_CONDUIT_SMC) {
		conduit_call = smccc_smc;
	}
	answer = (uint32_t)psci_call(PSCI_VERSION, 0, 0, 0);
	if (answer < VERSION_0_2 || answer >= VERSION_NEGATIVE) {
		conduit_kind = PSCI_CONDUIT_NONE;
		conduit_call = NULL;
		return false;
	}
	version = answer;
	return true;
}

TIMED int64_t psci_call(uint32_t function_id, uint64_t x1, uint64_t x2, uint64_t x3)
{
	struct smccc_result result;

	if (conduit_call == NULL) {
		return PSCI_NOT_SUPPORTED;
	}
	conduit_call(function_id, x1, x2, x3, &result);
	/* Every PSCI function returns an int32; some firmware leaves rubbish in the upper half. */
	return (int32_t)(uint32_t)result.x0;
}

TIMED bool psci_conduit_call(uint32_t function_id, uint64_t x1, uint64_t x2, uint64_t x3,
			     struct smccc_result *result)
{
	if (conduit_call == NULL) {
		return false;
	}
	conduit_call(function_id, x1, x2, x3, result);
	return true;
}

TIMED uint64_t psci_stat(uint32_t function_id, uint64_t target, uint32_t state)
{
	struct smccc_result result = {0};

	(void)psci_conduit_call(function_id, target, state, 0, &result);
	return result.x0;
}

uint32_t psci_version(void)
{
	return version;
}

const char *psci_conduit_name(void)
{
	switch (conduit_kind) {
	case PSCI_CONDUIT_HVC:
		return "hvc";
	case PSCI_CONDUIT_SMC:
		return "smc";
	case PSCI_CONDUIT_NONE:
		break;
	}
	return "none";
}

TIMED const char *psci_result_name(int64_t result)
{
	static const char *const names[] = {
		"SUCCESS",    "NOT_SUPPORTED",   "INVALID_PARAMETERS", "DENIED",
		"ALREADY_ON", "ON_PENDING",      "INTERNAL_FAILURE",   "NOT_PRESENT",
		"DISABLED",   "INVALID_ADDRESS",
	};

	if (result > PSCI_SUCCESS || result < PSCI_INVALID_ADDRESS) {
		return "unknown result";
	}
	return names[-result];
}

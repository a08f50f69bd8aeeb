/*
 * TF-A's time stamps, through PMF_SMC_GET_TIMESTAMP_64.
 */
#include "el1bench/pmf.h"

#include "el1bench/psci.h"
#include "el1bench/smccc.h"
#include "el1bench/sysreg.h"
#include "el1bench/timed.h"

#define GET_STAMP_VENDOR 0xc7000020U /* vendor-specific EL3 services, TF-A 2.11 and later */
#define GET_STAMP_SIP 0xc2000010U
#define STAMP_FIRST 0x41000400U /* implementer Arm, service RT_INSTR */

static uint32_t function; /* 0: there are no stamps */

TIMED bool pmf_available(void)
{
	return function != 0;
}

TIMED bool pmf_read(enum pmf_stamp stamp, uint64_t *ticks)
{
	struct smccc_result result;

	if (function == 0 || !psci_conduit_call(function, STAMP_FIRST + (uint32_t)stamp,
						SYSREG_READ(mpidr_el1), 0, &result)) {
		return false;
	}
	*ticks = result.x1;
	return result.x0 == 0; /* nothing else: for an MPIDR it dislikes, TF-A returns the call */
}

void pmf_start(void)
{
	static const uint32_t functions[] = {GET_STAMP_VENDOR, GET_STAMP_SIP};
	uint64_t ticks;

	for (unsigned int i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		function = functions[i];
		if (pmf_read(PMF_ENTER_PSCI, &ticks)) {
			return;
		}
	}
	function = 0;
}

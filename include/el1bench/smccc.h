/*
 * Calls to firmware by the SMC Calling Convention (Arm DEN 0028), with SMCCC 1.0's assumption that
 * x4 to x17 are lost. EL1, any core.
 */
#pragma once

#include <stdint.h>

struct smccc_result {
	uint64_t x0;
	uint64_t x1;
	uint64_t x2;
	uint64_t x3;
};

typedef void (*smccc_function)(uint64_t function_id, uint64_t x1, uint64_t x2, uint64_t x3,
			       struct smccc_result *result);

void smccc_smc(uint64_t function_id, uint64_t x1, uint64_t x2, uint64_t x3,
	       struct smccc_result *result);
void smccc_hvc(uint64_t function_id, uint64_t x1, uint64_t x2, uint64_t x3,
	       struct smccc_result *result);

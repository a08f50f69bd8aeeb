/* sources: src/drivers/psci/psci.c */
/*
 * PSCI: conduit, version check, sign extension and names, with made-up firmware behind both
 * conduits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "el1bench/psci.h"
#include "el1bench/smccc.h"

static uint64_t answer;
static char last_conduit;
static uint64_t last_call[4];

static void firmware(char conduit, uint64_t function_id, uint64_t x1, uint64_t x2, uint64_t x3,
		     struct smccc_result *result)
{
	last_conduit = conduit;
	last_call[0] = function_id;
	last_call[1] = x1;
	last_call[2] = x2;
	last_call[3] = x3;
	*result = (struct smccc_result){.x0 = answer};
}

void smccc_smc(uint64_t function_id, uint64_t x1, uint64_t x2, uint64_t x3,
	       struct smccc_result *result)
{
	firmware('s', function_id, x1, x2, x3, result);
}

void smccc_hvc(uint64_t function_id, uint64_t x1, uint64_t x2, uint64_t x3,
	       struct smccc_result *result)
{
	firmware('h', function_id, x1, x2, x3, result);
}

static int reset(void **state)
{
	(void)state;
	answer = 0;
	last_conduit = '-';
	(void)psci_start(PSCI_CONDUIT_NONE);
	return 0;
}

static void without_a_conduit_nothing_is_supported(void **state)
{
	(void)state;
	assert_false(psci_start(PSCI_CONDUIT_NONE));
	assert_int_equal(psci_call(PSCI_CPU_ON, 1, 2, 3), PSCI_NOT_SUPPORTED);
	assert_int_equal(last_conduit, '-');
	assert_int_equal(psci_version(), 0);
	assert_string_equal(psci_conduit_name(), "none");
}

static void calls_go_through_the_conduit(void **state)
{
	(void)state;
	answer = 0x10001;
	assert_true(psci_start(PSCI_CONDUIT_HVC));
	assert_int_equal(last_conduit, 'h');
	assert_int_equal(last_call[0], 0x84000000);
	assert_string_equal(psci_conduit_name(), "hvc");
	assert_true(psci_start(PSCI_CONDUIT_SMC));
	assert_int_equal(psci_version(), 0x10001);
	assert_string_equal(psci_conduit_name(), "smc");
	answer = 0;
	assert_int_equal(psci_call(PSCI_CPU_ON, 0x100, 0x40200000, 5), PSCI_SUCCESS);
	assert_int_equal(last_conduit, 's');
	assert_int_equal(last_call[0], 0xc4000003);
	assert_int_equal(last_call[1], 0x100);
	assert_int_equal(last_call[2], 0x40200000);
	assert_int_equal(last_call[3], 5);
}

static void refuses_what_is_no_version(void **state)
{
	static const uint64_t bad[] = {0, 1, 0xffffffff, UINT64_MAX, 0x80000000};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		answer = bad[i];
		assert_false(psci_start(PSCI_CONDUIT_SMC));
		assert_int_equal(psci_version(), 0);
		answer = 0;
		assert_int_equal(psci_call(PSCI_CPU_OFF, 0, 0, 0), PSCI_NOT_SUPPORTED);
	}
	answer = 2;
	assert_true(psci_start(PSCI_CONDUIT_SMC));
	answer = 0x10000;
	assert_true(psci_start(PSCI_CONDUIT_SMC));
}

static void results_are_sign_extended_from_32_bits(void **state)
{
	(void)state;
	answer = 0x10000;
	assert_true(psci_start(PSCI_CONDUIT_SMC));
	answer = 0xfffffffc;
	assert_int_equal(psci_call(PSCI_CPU_ON, 1, 0, 0), PSCI_ALREADY_ON);
	answer = UINT64_C(0xdead0000fffffffe);
	assert_int_equal(psci_call(PSCI_CPU_ON, 1, 0, 0), PSCI_INVALID_PARAMETERS);
	answer = 2;
	assert_int_equal(psci_call(PSCI_AFFINITY_INFO, 1, 0, 0), 2);
}

static void results_have_names(void **state)
{
	(void)state;
	assert_string_equal(psci_result_name(0), "SUCCESS");
	assert_string_equal(psci_result_name(-1), "NOT_SUPPORTED");
	assert_string_equal(psci_result_name(-4), "ALREADY_ON");
	assert_string_equal(psci_result_name(-9), "INVALID_ADDRESS");
	assert_string_equal(psci_result_name(-10), "unknown result");
	assert_string_equal(psci_result_name(1), "unknown result");
	assert_string_equal(psci_result_name(INT64_MIN), "unknown result");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(without_a_conduit_nothing_is_supported, reset),
		cmocka_unit_test_setup(calls_go_through_the_conduit, reset),
		cmocka_unit_test_setup(refuses_what_is_no_version, reset),
		cmocka_unit_test_setup(results_are_sign_extended_from_32_bits, reset),
		cmocka_unit_test_setup(results_have_names, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

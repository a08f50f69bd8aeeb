/*
 * psci.version.serial, psci.features, psci.affinity-info, psci.smccc-version, and each in
 * `parallel`: calls that firmware answers at once, from each online core: one core after the other
 * or all of them right after a meeting.
 *
 * Metric `round-trip`: the caller before the call -> the caller after it. Metric `el3`, for
 * PSCI_VERSION where firmware takes stamps: its entry -> its exit.
 */
#include <stddef.h>

#include "el1bench/counter.h"
#include "el1bench/cpu.h"
#include "el1bench/platform.h"
#include "el1bench/pmf.h"
#include "el1bench/psci.h"
#include "el1bench/rendezvous.h"
#include "el1bench/smp.h"
#include "psci_suite.h"

#define CALL_TIMEOUT_MS 2000

enum { VERSION, FEATURES, AFFINITY_INFO, SMCCC, FUNCTIONS };

static const uint32_t functions[FUNCTIONS] = {
	[VERSION] = PSCI_VERSION,
	[FEATURES] = PSCI_FEATURES,
	[AFFINITY_INFO] = PSCI_AFFINITY_INFO,
	[SMCCC] = SMCCC_VERSION,
};

/* A benchmark's variant: the function, twice, and 1 for parallel. */
#define CASES (2 * FUNCTIONS)

static struct sample_row *rows[CASES][CPU_MAX];
static struct sample_row *el3_rows[CASES][CPU_MAX];
static struct rendezvous meeting;

/* One call of one core. */
struct caller {
	uint32_t function;
	bool meets;    /* the others first */
	bool complete; /* it met them, if it was to */
	uint64_t argument;
	int64_t ticks;
	bool stamped; /* by firmware, within the call */
	uint64_t entered, left;
} __attribute__((aligned(64)));

static struct caller callers[CPU_MAX];

TIMED static void call_once(void *argument)
{
	struct caller *caller = argument;
	uint32_t function = caller->function;
	uint64_t x1 = caller->argument;
	uint64_t begin;
	uint64_t end;

	if (caller->meets && !rendezvous_meet(&meeting)) {
		return;
	}
	begin = counter_begin();
	(void)psci_call(function, x1, 0, 0);
	end = counter_end();
	caller->ticks = (int64_t)(end - begin);
	caller->stamped = pmf_read(PMF_ENTER_PSCI, &caller->entered) &&
			  pmf_read(PMF_EXIT_PSCI, &caller->left) &&
			  (int64_t)(caller->entered - begin) >= 0 &&
			  (int64_t)(caller->left - caller->entered) >= 0 &&
			  (int64_t)(end - caller->left) >= 0;
	caller->complete = true;
}

/* PSCI_FEATURES asks for a function, AFFINITY_INFO for the calling core itself. */
TIMED static struct caller *set_up(uint32_t variant, uint32_t position)
{
	struct caller *caller = &callers[position];

	caller->function = functions[variant / 2];
	caller->meets = variant % 2 != 0;
	caller->complete = false;
	caller->argument = variant / 2 == FEATURES ? PSCI_CPU_ON
						   : platform.cpus[smp_online_cpu(position)].target;
	return caller;
}

static uint32_t row_count(uint32_t online)
{
	return online * 2;
}

UNTIMED static bool prepare(struct benchmark_run *run)
{
	uint32_t variant = run->benchmark->variant;
	int64_t result;

	if (!psci_available(run)) {
		return false;
	}
	if (variant % 2 != 0 && smp_online_count() < 2) {
		return benchmark_skip(run, "it takes two cores", 0, 0, 0);
	}
	result = psci_call(functions[variant / 2], set_up(variant, 0)->argument, 0, 0);
	if (result < 0) {
		return benchmark_skip(run, "firmware answers %s",
				      (uintptr_t)psci_result_name(result), 0, 0);
	}
	for (uint32_t position = 0; position < smp_online_count(); position++) {
		rows[variant][position] = benchmark_row(
			run, "round-trip", (int32_t)smp_online_cpu(position), SAMPLE_NO_CPU, NULL);
		if (rows[variant][position] == NULL) {
			return false;
		}
		el3_rows[variant][position] = NULL;
		if (pmf_available() && variant / 2 == VERSION) {
			el3_rows[variant][position] = benchmark_row(
				run, "el3", (int32_t)smp_online_cpu(position), SAMPLE_NO_CPU, NULL);
		}
	}
	return run->reason == NULL;
}

TIMED static bool sample(struct benchmark_run *run)
{
	uint32_t variant = run->benchmark->variant;
	uint32_t online = smp_online_count();

	rendezvous_start(&meeting, online);
	for (uint32_t position = online; position-- > 0;) {
		struct caller *caller = set_up(variant, position);
		uint32_t cpu = smp_online_cpu(position);

		/* Core 0 is the last one; each of the others may go on alone, or waits for it. */
		if (cpu == 0) {
			call_once(caller);
		} else if (!smp_post(cpu, call_once, caller) ||
			   (!caller->meets && !smp_wait(cpu, CALL_TIMEOUT_MS))) {
			return benchmark_fail(run, "core %lu did not make its call", cpu, 0, 0);
		}
	}
	for (uint32_t position = 0; position < online; position++) {
		uint32_t cpu = smp_online_cpu(position);

		if ((cpu != 0 && !smp_wait(cpu, CALL_TIMEOUT_MS)) || !callers[position].complete) {
			return benchmark_fail(run, "core %lu did not make its call", cpu, 0, 0);
		}
		sample_record(rows[variant][position], callers[position].ticks);
		if (el3_rows[variant][position] == NULL) {
			continue;
		}
		if (callers[position].stamped) {
			sample_record(
				el3_rows[variant][position],
				(int64_t)(callers[position].left - callers[position].entered));
		} else {
			sample_exclude(el3_rows[variant][position], SAMPLE_STALE);
		}
	}
	return true;
}

#define CALL_BENCHMARK(identifier, text, what, number)                                             \
	static const struct benchmark identifier = {                                               \
		.name = text,                                                                      \
		.summary = what,                                                                   \
		.variant = number,                                                                 \
		.row_count = row_count,                                                            \
		.prepare = prepare,                                                                \
		.sample = sample,                                                                  \
	};                                                                                         \
	BENCHMARK(identifier)

#define CALL_BENCHMARKS(identifier, serial, parallel, what, function)                              \
	CALL_BENCHMARK(identifier##_serial, serial, what ", core after core", 2 * (function));     \
	CALL_BENCHMARK(identifier##_parallel, parallel, what ", all cores at once",                \
		       2 * (function) + 1)

CALL_BENCHMARKS(psci_version, "psci.version.serial", "psci.version.parallel", "PSCI_VERSION",
		VERSION);
CALL_BENCHMARKS(psci_features, "psci.features", "psci.features.parallel", "PSCI_FEATURES of CPU_ON",
		FEATURES);
CALL_BENCHMARKS(psci_affinity_info, "psci.affinity-info", "psci.affinity-info.parallel",
		"AFFINITY_INFO of the caller itself", AFFINITY_INFO);
CALL_BENCHMARKS(psci_smccc_version, "psci.smccc-version", "psci.smccc-version.parallel",
		"SMCCC_VERSION", SMCCC);

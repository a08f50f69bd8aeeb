/* sources: src/smp/smp.c src/smp/power.c src/smp/rendezvous.c src/smp/poll.c */
/*
 * Bring-up and hand-out of work, each core a thread: CPU_ON creates it, an SGI is a semaphore, and
 * WFI waits for that semaphore, so that a lost wake-up is a test that does not end in time.
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "el1bench/barrier.h"
#include "el1bench/counter.h"
#include "el1bench/cpu.h"
#include "el1bench/gic.h"
#include "el1bench/mmu.h"
#include "el1bench/platform.h"
#include "el1bench/psci.h"
#include "el1bench/smp.h"
#include "el1bench/wait.h"

#define CORES 6
#define ENTRY 0x40201000

/* What firmware does with CPU_ON of a core, by its target. */
enum behaviour { STARTS, REFUSES, NEVER_COMES, COMES_LATE, HAS_NO_GIC };

/* What it does with CPU_OFF. */
enum off_behaviour { OFF_REFUSED, OFF_WORKS, OFF_HANGS };

struct platform platform;
struct cpu cpus[CPU_MAX];
const struct gic_operations *gic;

static enum behaviour behaviour[CORES];
static enum off_behaviour off_behaviour;
static volatile bool is_off[CORES];
static int64_t refusal;
static int64_t affinity_info;
static pthread_t threads[CORES];
static bool thread_runs[CORES];
static sem_t interrupts[CORES];
static sem_t may_start;     /* lets a late core go on */
static sem_t switched_off;  /* posted by each CPU_OFF */
static volatile bool power; /* off ends the threads */
static _Thread_local uint32_t current;
static _Thread_local bool masked = true;

struct cpu *cpu_current(void)
{
	return &cpus[current];
}

uint32_t cpu_index(void)
{
	return current;
}

void wait_ms(uint32_t milliseconds)
{
	(void)usleep(milliseconds * 1000);
}

uint64_t fake_counter(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

void fake_barrier(const char *name)
{
	if (strcmp(name, "irq_mask") == 0) {
		masked = true;
	} else if (strcmp(name, "irq_unmask") == 0) {
		masked = false;
	} else if (strcmp(name, "wfi") == 0) {
		assert_true(masked);
		while (sem_wait(&interrupts[current]) != 0) {
		}
		if (!power) {
			pthread_exit(NULL);
		}
	}
}

static bool fake_start_cpu(uint32_t cpu, const char **reason)
{
	if (behaviour[cpu] == HAS_NO_GIC) {
		*reason = "no redistributor";
		return false;
	}
	return true;
}

static void fake_send(uint32_t cpu, uint32_t intid)
{
	assert_int_equal(intid, GIC_SGI_WORK);
	(void)sem_post(&interrupts[cpu]);
}

static const struct gic_operations fake_gic = {
	.version = 2,
	.start_cpu = fake_start_cpu,
	.send = fake_send,
};

static gic_handler work_handler;

void gic_set_handler(uint32_t intid, gic_handler handler)
{
	assert_int_equal(intid, GIC_SGI_WORK);
	work_handler = handler;
}

uint64_t mmu_secondary_entry(void)
{
	return ENTRY;
}

static void *core_main(void *argument)
{
	current = (uint32_t)(uintptr_t)argument;
	if (behaviour[current] == COMES_LATE) {
		while (sem_wait(&may_start) != 0) {
		}
	}
	smp_secondary_main(current);
}

static uint32_t version = 0x10001;

uint32_t psci_version(void)
{
	return version;
}

const char *psci_result_name(int64_t result)
{
	return result == PSCI_DENIED ? "DENIED" : "other";
}

int64_t psci_call(uint32_t function_id, uint64_t x1, uint64_t x2, uint64_t x3)
{
	uint32_t index = (uint32_t)x3;

	switch (function_id) {
	case PSCI_CPU_ON:
		assert_in_range(index, 1, CORES - 1);
		assert_int_equal(x1, 0x100 * index); /* the tree's number, not the index */
		assert_int_equal(x2, ENTRY);
		if (behaviour[index] == REFUSES) {
			return refusal;
		}
		if (behaviour[index] != NEVER_COMES) {
			if (thread_runs[index]) {
				(void)pthread_join(threads[index], NULL);
			}
			thread_runs[index] = true;
			is_off[index] = false;
			assert_int_equal(pthread_create(&threads[index], NULL, core_main,
							(void *)(uintptr_t)index),
					 0);
		}
		return PSCI_SUCCESS;
	case PSCI_AFFINITY_INFO:
		assert_int_equal(x1 % 0x100, 0);
		assert_int_equal(x2, 0);
		return is_off[x1 / 0x100] ? 1 : affinity_info;
	default:
		assert_int_equal(function_id, PSCI_CPU_OFF);
		assert_true(masked);
		(void)sem_post(&switched_off);
		if (off_behaviour == OFF_WORKS) {
			is_off[current] = true;
			pthread_exit(NULL);
		}
		while (off_behaviour == OFF_HANGS && power) {
			(void)sched_yield();
		}
		return PSCI_DENIED;
	}
}

static char failures[1024];

static void note_failure(uint32_t cpu, const char *reason)
{
	size_t used = strlen(failures);

	(void)snprintf(failures + used, sizeof(failures) - used, "%u: %s\n", cpu, reason);
}

static int set_up(void **state)
{
	(void)state;
	memset(&platform, 0, sizeof(platform));
	memset(cpus, 0, sizeof(cpus));
	platform.cpu_count = CORES;
	for (uint32_t index = 0; index < CORES; index++) {
		cpus[index].index = index;
		platform.cpus[index].target = 0x100 * index;
		behaviour[index] = STARTS;
		thread_runs[index] = false;
		is_off[index] = false;
		assert_int_equal(sem_init(&interrupts[index], 0, 0), 0);
	}
	assert_int_equal(sem_init(&may_start, 0, 0), 0);
	assert_int_equal(sem_init(&switched_off, 0, 0), 0);
	failures[0] = '\0';
	off_behaviour = OFF_REFUSED;
	affinity_info = 0;
	version = 0x10001;
	power = true;
	gic = &fake_gic;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	power = false;
	(void)sem_post(&may_start);
	for (uint32_t index = 1; index < CORES; index++) {
		if (thread_runs[index]) {
			(void)sem_post(&interrupts[index]);
			(void)pthread_join(threads[index], NULL);
		}
	}
	return 0;
}

static void all_cores_come_up(void **state)
{
	(void)state;
	assert_int_equal(smp_start(note_failure), CORES);
	assert_string_equal(failures, "");
	assert_int_equal(smp_online_count(), CORES);
	assert_non_null(work_handler);
	for (uint32_t index = 0; index < CORES; index++) {
		assert_int_equal(smp_online_cpu(index), index);
		assert_true(smp_is_online(index));
		assert_int_equal(cpus[index].online, 1);
		assert_true(smp_idle(index));
	}
	assert_false(smp_is_online(CORES));
	assert_false(smp_is_online(CPU_MAX));
	assert_false(smp_is_online(UINT32_MAX));
}

static void cores_that_fail_are_left_out_and_named(void **state)
{
	(void)state;
	behaviour[1] = REFUSES;
	refusal = PSCI_DENIED;
	behaviour[3] = NEVER_COMES;
	affinity_info = 2;
	behaviour[4] = HAS_NO_GIC;
	assert_int_equal(smp_start(note_failure), 3);
	assert_int_equal(smp_online_cpu(0), 0);
	assert_int_equal(smp_online_cpu(1), 2);
	assert_int_equal(smp_online_cpu(2), 5);
	assert_false(smp_is_online(1));
	assert_false(smp_is_online(3));
	assert_false(smp_is_online(4));
	assert_non_null(strstr(failures, "1: CPU_ON of 0x100 returned DENIED (-3)\n"));
	assert_non_null(strstr(failures, "3: CPU_ON was accepted"));
	assert_non_null(strstr(failures, "AFFINITY_INFO: ON_PENDING\n"));
	assert_non_null(strstr(failures, "4: started, but no redistributor\n"));
}

static void a_core_that_comes_too_late_switches_itself_off(void **state)
{
	(void)state;
	behaviour[2] = COMES_LATE;
	affinity_info = 1;
	assert_int_equal(smp_start(note_failure), CORES - 1);
	assert_non_null(strstr(failures, "AFFINITY_INFO: OFF\n"));
	(void)sem_post(&may_start);
	while (sem_wait(&switched_off) != 0) {
	}
	assert_false(smp_is_online(2));
	assert_int_equal(cpus[2].online, 0);
	assert_int_equal(smp_online_count(), CORES - 1);
}

static void nobody_starts_without_gic_or_firmware(void **state)
{
	(void)state;
	gic = NULL;
	assert_int_equal(smp_start(note_failure), 1);
	assert_non_null(strstr(failures, "5: not started: there is no interrupt controller"));
	gic = &fake_gic;
	version = 0;
	failures[0] = '\0';
	assert_int_equal(smp_start(note_failure), 1);
	assert_non_null(strstr(failures, "1: not started: there is no PSCI firmware"));
	assert_int_equal(smp_online_count(), 1);
}

static uint64_t sums[CORES];

static void add(void *argument)
{
	assert_false(masked && current != 0); /* work runs with interrupts on */
	sums[current] += *(const uint64_t *)argument;
}

/* No work is lost and none is done twice, however post and idle loop interleave. */
static void every_piece_of_work_is_done_once(void **state)
{
	static uint64_t pieces[CORES];
	const uint64_t rounds = 20000;

	(void)state;
	memset(sums, 0, sizeof(sums));
	assert_int_equal(smp_start(note_failure), CORES);
	for (uint64_t round = 1; round <= rounds; round++) {
		for (uint32_t index = 1; index < CORES; index++) {
			assert_true(smp_wait(index, 10000));
			pieces[index] = round;
			assert_true(smp_post(index, add, &pieces[index]));
		}
	}
	for (uint32_t index = 1; index < CORES; index++) {
		assert_true(smp_wait(index, 10000));
		assert_int_equal(sums[index], rounds * (rounds + 1) / 2);
	}
}

static sem_t hold;

static void wait_for_permission(void *argument)
{
	(void)argument;
	while (sem_wait(&hold) != 0) {
	}
}

static void a_busy_core_takes_no_more_work(void **state)
{
	uint64_t one = 1;

	(void)state;
	assert_int_equal(sem_init(&hold, 0, 0), 0);
	assert_int_equal(smp_start(note_failure), CORES);
	assert_true(smp_post(1, wait_for_permission, NULL));
	assert_false(smp_idle(1));
	assert_false(smp_post(1, add, &one));
	assert_false(smp_wait(1, 20));
	assert_false(smp_call(1, add, &one, 20));
	(void)sem_post(&hold);
	assert_true(smp_wait(1, 10000));
	memset(sums, 0, sizeof(sums));
	assert_true(smp_call(1, add, &one, 10000));
	assert_true(smp_call(0, add, &one, 0));
	assert_int_equal(sums[1], 1);
	assert_int_equal(sums[0], 1);
}

static void a_core_goes_off_and_comes_back(void **state)
{
	struct smp_power off;
	struct smp_power on;

	(void)state;
	off_behaviour = OFF_WORKS;
	assert_int_equal(smp_start(note_failure), CORES);
	assert_int_equal(smp_power_on(2, &on), SMP_POWER_BUSY);
	for (uint64_t round = 1; round <= 50; round++) {
		uint64_t before = fake_counter();

		assert_int_equal(smp_power_off(2, &off), SMP_POWER_DONE);
		assert_false(smp_is_online(2));
		assert_true(smp_idle(2));
		assert_false(smp_post(2, add, &round));
		assert_int_equal(smp_power_off(2, &off), SMP_POWER_BUSY);
		assert_int_equal(smp_power_on(2, &on), SMP_POWER_DONE);
		assert_true(smp_is_online(2));
		assert_in_range(off.begin, before, off.end);
		assert_in_range(on.begin, off.end, on.end);
		sums[2] = 0;
		assert_true(smp_call(2, add, &round, 10000));
		assert_int_equal(sums[2], round);
	}
	assert_true(smp_power_restore(2));
	assert_int_equal(smp_power_off(2, &off), SMP_POWER_DONE);
	assert_true(smp_power_restore(2));
	assert_true(smp_is_online(2));
	assert_int_equal(smp_power_off(0, &off), SMP_POWER_BUSY);
	assert_int_equal(smp_power_on(0, &on), SMP_POWER_BUSY);
}

static void cores_go_off_together(void **state)
{
	struct smp_power off[3] = {{.cpu = 1}, {.cpu = 2}, {.cpu = 3}};
	struct smp_power on;

	(void)state;
	off_behaviour = OFF_WORKS;
	assert_int_equal(smp_start(note_failure), CORES);
	for (uint32_t round = 0; round < 50; round++) {
		smp_power_off_together(off, 3);
		for (uint32_t i = 0; i < 3; i++) {
			assert_int_equal(off[i].done, SMP_POWER_DONE);
			assert_false(smp_is_online(off[i].cpu));
		}
		for (uint32_t i = 0; i < 3; i++) {
			assert_true(off[i].begin <= off[i].end); /* a tick is long */
			assert_int_equal(smp_power_on(off[i].cpu, &on), SMP_POWER_DONE);
		}
	}
	/* One that cannot take part keeps nobody waiting. */
	assert_int_equal(smp_power_off(2, &on), SMP_POWER_DONE);
	smp_power_off_together(off, 3);
	assert_int_equal(off[0].done, SMP_POWER_DONE);
	assert_int_equal(off[1].done, SMP_POWER_BUSY);
	assert_int_equal(off[2].done, SMP_POWER_DONE);
	for (uint32_t cpu = 1; cpu <= 3; cpu++) {
		assert_true(smp_power_restore(cpu));
	}
}

static void a_core_that_may_not_go_off_goes_on(void **state)
{
	struct smp_power refused;
	uint64_t one = 1;

	(void)state;
	assert_int_equal(smp_start(note_failure), CORES);
	assert_int_equal(smp_power_off(3, &refused), SMP_POWER_REFUSED);
	assert_int_equal(refused.result, PSCI_DENIED);
	sums[3] = 0;
	assert_true(smp_call(3, add, &one, 10000));
	assert_int_equal(sums[3], 1);
	off_behaviour = OFF_WORKS;
	assert_int_equal(smp_power_off(3, &refused), SMP_POWER_DONE);
	behaviour[3] = REFUSES;
	refusal = PSCI_ALREADY_ON;
	assert_int_equal(smp_power_on(3, &refused), SMP_POWER_REFUSED);
	assert_int_equal(refused.result, PSCI_ALREADY_ON);
	assert_false(smp_power_restore(3));
	behaviour[3] = STARTS;
	assert_true(smp_power_restore(3));
}

static void a_core_that_is_lost_is_out(void **state)
{
	struct smp_power lost;
	uint64_t one = 1;

	(void)state;
	assert_int_equal(smp_start(note_failure), CORES);
	off_behaviour = OFF_WORKS;
	assert_int_equal(smp_power_off(1, &lost), SMP_POWER_DONE);
	behaviour[1] = NEVER_COMES;
	assert_int_equal(smp_power_on(1, &lost), SMP_POWER_LOST);
	assert_int_equal(smp_power_on(1, &lost), SMP_POWER_BUSY);
	assert_int_equal(smp_power_off(1, &lost), SMP_POWER_BUSY);
	off_behaviour = OFF_HANGS;
	assert_int_equal(smp_power_off(2, &lost), SMP_POWER_LOST);
	assert_false(smp_is_online(2));
	assert_false(smp_post(2, add, &one));
	off_behaviour = OFF_WORKS;
	behaviour[3] = HAS_NO_GIC;
	assert_int_equal(smp_power_off(3, &lost), SMP_POWER_DONE);
	assert_int_equal(smp_power_on(3, &lost), SMP_POWER_LOST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_cores_come_up, set_up, tear_down),
		cmocka_unit_test_setup_teardown(cores_that_fail_are_left_out_and_named, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_core_that_comes_too_late_switches_itself_off,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(nobody_starts_without_gic_or_firmware, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(every_piece_of_work_is_done_once, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_busy_core_takes_no_more_work, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_core_goes_off_and_comes_back, set_up, tear_down),
		cmocka_unit_test_setup_teardown(cores_go_off_together, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_core_that_may_not_go_off_goes_on, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_core_that_is_lost_is_out, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

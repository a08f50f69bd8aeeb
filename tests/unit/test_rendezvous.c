/* sources: src/smp/rendezvous.c src/smp/poll.c */
/*
 * Meetings of threads: nobody leaves early, nobody is left behind, round after round.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "el1bench/barrier.h"
#include "el1bench/counter.h"
#include "el1bench/rendezvous.h"

#define THREADS 5
#define ROUNDS 500

static struct rendezvous meeting;
static uint64_t entered[ROUNDS];

uint64_t fake_counter(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

void fake_barrier(const char *name)
{
	if (strcmp(name, "cpu_yield") == 0) {
		(void)sched_yield();
	}
}

static void *meet_often(void *argument)
{
	(void)argument;
	for (uint32_t round = 0; round < ROUNDS; round++) {
		__atomic_add_fetch(&entered[round], 1, __ATOMIC_ACQ_REL);
		if (!rendezvous_meet(&meeting) ||
		    __atomic_load_n(&entered[round], __ATOMIC_ACQUIRE) != THREADS) {
			return (void *)1;
		}
	}
	return NULL;
}

static void all_leave_together(void **state)
{
	pthread_t threads[THREADS];
	void *failed;

	(void)state;
	rendezvous_start(&meeting, THREADS);
	for (uint32_t i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_create(&threads[i], NULL, meet_often, NULL), 0);
	}
	for (uint32_t i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(threads[i], &failed), 0);
		assert_null(failed);
	}
}

static void who_is_left_alone_gives_up(void **state)
{
	(void)state;
	rendezvous_start(&meeting, 2);
	assert_false(rendezvous_meet(&meeting));
	/* What is left of that does not spoil the next one. */
	rendezvous_start(&meeting, 1);
	assert_true(rendezvous_meet(&meeting));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_leave_together),
		cmocka_unit_test(who_is_left_alone_gives_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

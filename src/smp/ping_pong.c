/*
 * Counter readings exchanged between core 0 and one partner. Question and answer are counts in
 * cache lines of their own, so that each side polls a line that only the other writes.
 */
#include "el1bench/ping_pong.h"

#include <stddef.h>

#include "el1bench/counter.h"
#include "el1bench/poll.h"
#include "el1bench/smp.h"
#include "el1bench/timed.h"

#define PING_PONG_STOP UINT64_MAX
#define PING_PONG_STOP_MS 1000

static struct {
	volatile uint64_t count __attribute__((aligned(64)));
} question;

static struct {
	volatile uint64_t count __attribute__((aligned(64)));
	uint64_t stamp;
} answer;

static uint64_t asked;
static int32_t partner = -1;

/*
 * The partner's side: answers until told to stop, or until nobody has asked for the poll's
 * time-out.
 */
TIMED static void answer_questions(void *unused)
{
	uint64_t answered = 0;

	(void)unused;
	poll_publish(&answer.count, 0);
	for (;;) {
		struct deadline deadline = deadline_in_ms_inline(10 * POLL_TIMEOUT_MS);
		uint64_t now = poll_read(&question.count);

		while (now == answered) {
			if (deadline_passed(&deadline)) {
				return;
			}
			cpu_yield();
			now = poll_read(&question.count);
		}
		if (now == PING_PONG_STOP) {
			return;
		}
		answer.stamp = counter_end();
		answered = now;
		poll_publish(&answer.count, now);
	}
}

TIMED bool ping_pong_start(uint32_t cpu)
{
	asked = 0;
	poll_publish(&question.count, 0);
	poll_publish(&answer.count, PING_PONG_STOP);
	if (!smp_post(cpu, answer_questions, NULL)) {
		return false;
	}
	partner = (int32_t)cpu;
	return poll_until(&answer.count, 0);
}

TIMED bool ping_pong_read(struct ping_pong_reading *reading)
{
	asked++;
	reading->before = counter_begin();
	poll_publish(&question.count, asked);
	if (!poll_until(&answer.count, asked)) {
		return false;
	}
	reading->after = counter_end();
	reading->there = answer.stamp;
	return true;
}

TIMED bool ping_pong_stop(void)
{
	uint32_t cpu = (uint32_t)partner;

	if (partner < 0) {
		return true;
	}
	partner = -1;
	poll_publish(&question.count, PING_PONG_STOP);
	return smp_wait(cpu, PING_PONG_STOP_MS);
}

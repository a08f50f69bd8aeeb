/*
 * A visit to a pair of cores. What they are to do lies in one place that core 0 fills in before it
 * hands out the work; the sender leaves its stamps there, says that it has finished, and wakes
 * whoever may sleep. Nobody else is running meanwhile: the remaining cores are idle in WFI.
 */
#include "pair.h"

#include <stddef.h>
#include <string.h>

#include "el1bench/arena.h"
#include "el1bench/arguments.h"
#include "el1bench/cache.h"
#include "el1bench/counter.h"
#include "el1bench/cpu.h"
#include "el1bench/poll.h"
#include "el1bench/sleep.h"
#include "el1bench/smp.h"
#include "ipi.h"
#include "receiver.h"

#define VISIT_MS 10000U
#define END_MS 1000U
#define SETTLE_HZ 200000U /* 5 us after a round, the receiver is back where it waits */
#define PING_STOP UINT64_MAX
#define LOAD_BYTES (1U << 20) /* more than a core's own caches hold */
#define LINE_WORDS 8U
#define LOAD_BURST 64U /* lines between two looks at whether it is over */

/* From the linker script: everything that the image writes, page tables and stacks apart. */
extern const uint8_t data_start[];
extern const uint8_t bss_end[];

static struct {
	const struct pair *pair;
	uint32_t rounds; /* the one that is not recorded included */
	uint32_t gaps[PAIR_ROUNDS + 1];
	struct pair_round stamps[PAIR_ROUNDS + 1];
	bool lost;
	volatile uint64_t receiving; /* 1 once the receiver has begun */
	volatile uint64_t loading;   /* 1 once the core that loads memory has */
} visit;

/* Each has a cache line to itself. */
static struct {
	volatile uint64_t value __attribute__((aligned(64)));
} finished, ping, pong, payload[FACTOR_PAYLOAD_MAX];

static struct {
	volatile uint64_t verified __attribute__((aligned(64)));
	volatile uint64_t mismatches;
} lines;

static volatile uint64_t *load_buffer;

bool pair_prepare(struct benchmark_run *run)
{
	if (!ipi_available(run, 2)) {
		return false;
	}
	sleep_prepare();
	return true;
}

static bool runs_cores_in_turn(const char *emulator)
{
	return strstr(emulator, "single") != NULL || strstr(emulator, "icount") != NULL;
}

UNTIMED const char *pair_obstacle(const struct factor_set *factors)
{
	if (factors->values[FACTOR_RECEIVER] == RECEIVER_BUSY &&
	    runs_cores_in_turn(benchmark_arguments()->emulated)) {
		return "receiver=busy is left out: where an emulator runs the cores in turn, a busy "
		       "one keeps its slice of 100 ms";
	}
	if (factors->values[FACTOR_LOAD] == LOAD_MEMORY) {
		if (smp_online_count() < 3) {
			return "load=memory is left out: it takes a third core";
		}
		if (load_buffer == NULL) {
			load_buffer = arena_take(LOAD_BYTES);
		}
		if (load_buffer == NULL) {
			return "load=memory is left out: no memory is left to load";
		}
	}
	return NULL;
}

/* On the receiver: reads what the sender wrote right before, then acknowledges. */
TIMED static void verify_and_acknowledge(uint32_t intid, uint32_t source, uint64_t stamp)
{
	uint64_t expected = ipi_slot(visit.pair->receiver)->acknowledged + 1;
	uint32_t count = visit.pair->factors.values[FACTOR_PAYLOAD];

	for (uint32_t i = 0; i < count; i++) {
		if (payload[i].value != expected) {
			lines.mismatches = lines.mismatches + 1;
		}
	}
	lines.verified = lines.verified + count;
	ipi_acknowledge(intid, source, stamp);
}

/*
 * Between two rounds: the receiver gets back to where it waits, then a gap of random length spreads
 * the samples over the counter's step.
 */
TIMED static void rest(uint32_t gap)
{
	struct deadline deadline = {
		.end = counter_begin() + counter_hz() / SETTLE_HZ,
		.polls = DEADLINE_POLLS,
	};

	while (!deadline_passed(&deadline)) {
	}
	benchmark_spin(gap);
}

/* No cache holds the image's data any more, no instruction cache its code. */
TIMED static void empty_caches(void)
{
	cache_clean_invalidate(data_start, (size_t)(bss_end - data_start));
	__asm__ volatile("ic ialluis" : : : "memory");
	dsb_ish();
	isb();
}

/* The sender's last act. */
TIMED static void finish_visit(void)
{
	uint32_t receiver = visit.pair->receiver;

	poll_publish(&ping.value, PING_STOP);
	poll_publish(&finished.value, 1);
	send_event();
	gic->send(receiver, GIC_SGI_WORK);
	if (receiver != 0 && cpu_index() != 0) {
		gic->send(0, GIC_SGI_WORK);
	}
}

TIMED static void send_interrupts(void *unused)
{
	const struct ipi_slot *slot = ipi_slot(visit.pair->receiver);
	ipi_send send = gic->send_behind[visit.pair->factors.values[FACTOR_BARRIER]];
	uint32_t written = visit.pair->factors.values[FACTOR_PAYLOAD];
	bool cold = visit.pair->factors.values[FACTOR_CACHE] == CACHE_COLD;
	uint64_t expected = slot->acknowledged;

	(void)unused;
	for (uint32_t i = 0; i < visit.rounds; i++) {
		uint32_t receiver = visit.pair->receiver;
		uint64_t begin;

		rest(visit.gaps[i]);
		if (cold) {
			empty_caches();
		}
		expected++;
		for (uint32_t line = 0; line < written; line++) {
			payload[line].value = expected;
		}
		begin = counter_begin();
		send(receiver, GIC_SGI_BENCH);
		if (!poll_until(&slot->acknowledged, expected)) {
			visit.lost = true;
			break;
		}
		visit.stamps[i].end = counter_end();
		visit.stamps[i].begin = begin;
		visit.stamps[i].stamp = slot->stamp;
	}
	finish_visit();
}

TIMED static void receive_interrupts(void *unused)
{
	(void)unused;
	poll_publish(&visit.receiving, 1);
	(void)receiver_wait(visit.pair->factors.values[FACTOR_RECEIVER], &finished.value, 1);
}

TIMED static void ask_by_line(void *unused)
{
	(void)unused;
	for (uint32_t i = 0; i < visit.rounds; i++) {
		uint64_t expected = i + 1;
		uint64_t begin;

		rest(visit.gaps[i]);
		begin = counter_begin();
		poll_publish(&ping.value, expected);
		if (!poll_until(&pong.value, expected)) {
			visit.lost = true;
			break;
		}
		visit.stamps[i].end = counter_end();
		visit.stamps[i].begin = begin;
	}
	finish_visit();
}

/* Until the value is another one than `known`; returns that, or PING_STOP if none comes in time. */
TIMED static uint64_t await_question(uint64_t known, bool by_event)
{
	struct deadline deadline = deadline_in_ms_inline(VISIT_MS);

	do {
		for (uint32_t polls = POLL_BATCH; polls != 0; polls--) {
			uint64_t value = poll_read(&ping.value);

			if (value != known) {
				return value;
			}
			if (by_event) {
				wait_for_event();
			} else {
				cpu_yield();
			}
		}
	} while (!deadline_passed(&deadline));
	return PING_STOP;
}

TIMED static void answer_by_line(void *unused)
{
	uint64_t value = 0;

	(void)unused;
	poll_publish(&visit.receiving, 1);
	while ((value = await_question(value, false)) != PING_STOP) {
		poll_publish(&pong.value, value);
	}
}

TIMED static bool await_answer(uint64_t expected)
{
	for (uint32_t polls = POLL_BATCH; polls != 0; polls--) {
		if (poll_read(&pong.value) == expected) {
			return true;
		}
		wait_for_event();
	}
	return poll_until(&pong.value, expected);
}

TIMED static void ask_by_event(void *unused)
{
	(void)unused;
	event_stream(true);
	for (uint32_t i = 0; i < visit.rounds; i++) {
		uint64_t expected = i + 1;
		uint64_t begin;

		rest(visit.gaps[i]);
		begin = counter_begin();
		poll_publish(&ping.value, expected);
		send_event();
		if (!await_answer(expected)) {
			visit.lost = true;
			break;
		}
		visit.stamps[i].end = counter_end();
		visit.stamps[i].begin = begin;
	}
	event_stream(false);
	finish_visit();
}

TIMED static void answer_by_event(void *unused)
{
	uint64_t value = 0;

	(void)unused;
	event_stream(true);
	poll_publish(&visit.receiving, 1);
	while ((value = await_question(value, true)) != PING_STOP) {
		poll_publish(&pong.value, value);
		send_event();
	}
	event_stream(false);
}

/* On a third core: reads and writes through a buffer, a line after the other. */
TIMED static void load_memory(void *unused)
{
	struct deadline deadline = deadline_in_ms(VISIT_MS);
	uint32_t line = 0;

	(void)unused;
	poll_publish(&visit.loading, 1);
	while (poll_read(&finished.value) == 0 && !deadline_passed(&deadline)) {
		for (uint32_t i = 0; i < LOAD_BURST; i++) {
			load_buffer[line * LINE_WORDS]++;
			line = (line + 1) % (LOAD_BYTES / (LINE_WORDS * sizeof(uint64_t)));
		}
		cpu_yield();
	}
}

static const struct {
	smp_function sender;
	smp_function receiver;
} roles[] = {
	[PAIR_INTERRUPT] = {send_interrupts, receive_interrupts},
	[PAIR_LINE] = {ask_by_line, answer_by_line},
	[PAIR_EVENT] = {ask_by_event, answer_by_event},
};

/*
 * The core that loads memory: the last one that takes no other part. It is core 0 only if the
 * others are not.
 */
TIMED static uint32_t loading_core(const struct pair *pair)
{
	uint32_t position = smp_online_count() - 1;

	while (smp_online_cpu(position) == pair->sender ||
	       smp_online_cpu(position) == pair->receiver) {
		position--;
	}
	return smp_online_cpu(position);
}

TIMED static void describe_visit(struct benchmark_run *run, const struct pair *pair, uint32_t count)
{
	visit.pair = pair;
	visit.rounds = count + 1;
	for (uint32_t i = 0; i <= count; i++) {
		visit.gaps[i] = benchmark_draw_gap(run);
	}
	visit.lost = false;
	visit.receiving = 0;
	visit.loading = 0;
	finished.value = 0;
	ping.value = 0;
	pong.value = 0;
	gic_set_handler(GIC_SGI_BENCH, pair->factors.values[FACTOR_PAYLOAD] > 0
					       ? verify_and_acknowledge
					       : ipi_acknowledge);
}

/* Hands out all work but core 0's and waits until whoever is to be there first is there. */
TIMED static bool start_helpers(const struct pair *pair, uint32_t loader)
{
	if (loader != 0 &&
	    !(smp_post(loader, load_memory, NULL) && poll_until(&visit.loading, 1))) {
		return false;
	}
	if (pair->receiver != 0 && !(smp_post(pair->receiver, roles[pair->kind].receiver, NULL) &&
				     poll_until(&visit.receiving, 1))) {
		return false;
	}
	return pair->sender == 0 || smp_post(pair->sender, roles[pair->kind].sender, NULL);
}

TIMED static bool all_idle(const struct pair *pair, uint32_t loader)
{
	return (pair->sender == 0 || smp_wait(pair->sender, END_MS)) &&
	       (pair->receiver == 0 || smp_wait(pair->receiver, END_MS)) &&
	       (loader == 0 || smp_wait(loader, END_MS));
}

TIMED const struct pair_round *pair_visit(struct benchmark_run *run, const struct pair *pair,
					  uint32_t count)
{
	bool loads = pair->factors.values[FACTOR_LOAD] == LOAD_MEMORY;
	uint32_t loader = loads ? loading_core(pair) : 0;

	describe_visit(run, pair, count);
	if (!start_helpers(pair, loader)) {
		(void)benchmark_fail(run, "cores %lu and %lu did not begin", pair->sender,
				     pair->receiver, 0);
		return NULL;
	}
	if (pair->sender == 0) {
		roles[pair->kind].sender(NULL);
	} else if (pair->receiver == 0) {
		roles[pair->kind].receiver(NULL);
	} else if (loads && loader == 0) {
		load_memory(NULL);
	} else {
		(void)sleep_until(&finished.value, 1, VISIT_MS);
	}
	if (!all_idle(pair, loader)) {
		(void)benchmark_fail(run, "cores %lu and %lu did not end", pair->sender,
				     pair->receiver, 0);
		return NULL;
	}
	if (visit.lost) {
		(void)benchmark_fail(run, "core %lu did not answer core %lu", pair->receiver,
				     pair->sender, 0);
		return NULL;
	}
	if (lines.mismatches != 0) {
		(void)benchmark_fail(run,
				     "core %lu read %lu lines of payload that were not what core "
				     "%lu had written",
				     pair->receiver, lines.mismatches, pair->sender);
		return NULL;
	}
	return visit.stamps + 1;
}

TIMED uint64_t pair_lines_verified(void)
{
	return lines.verified;
}

/*
 * spawn.thread: a thread of the kernel, from the request to its first instruction, on core 0 and on
 * another core; and back to nothing.
 *
 * Metrics `create` and `first-instruction` add up to `total`; `exit` is from the thread's last
 * stamp to the one who started it, `teardown` gives its stack back.
 */
#include "el1bench/kernel_thread.h"
#include "el1bench/smp.h"
#include "spawn.h"

#define WAIT_MS 1000

enum { TOTAL, CREATE, FIRST_INSTRUCTION, EXIT, TEARDOWN, TOTAL_REMOTE, ROWS };

static struct sample_row *rows[ROWS];
static struct spawn_counts before;
static uint64_t spawned;

static struct {
	struct kernel_thread thread;
	struct kernel_thread starter;
	uint64_t first;
	uint64_t last;
} one;

static uint32_t row_count(uint32_t online)
{
	(void)online;
	return ROWS;
}

UNTIMED static bool prepare(struct benchmark_run *run)
{
	static const char *const metrics[ROWS] = {"total", "create",   "first-instruction",
						  "exit",  "teardown", "total"};

	if (!spawn_available(run)) {
		return false;
	}
	for (uint32_t i = 0; i < ROWS - (smp_online_count() < 2); i++) {
		int32_t peer = i == TOTAL_REMOTE ? (int32_t)smp_online_cpu(1) : SAMPLE_NO_CPU;

		rows[i] = benchmark_row(run, metrics[i], 0, peer, NULL);
		if (rows[i] == NULL) {
			return false;
		}
	}
	return true;
}

TIMED static void run_thread(struct kernel_thread *self, uint64_t stamp)
{
	one.first = stamp;
	one.last = counter_begin();
	kernel_thread_switch(self, &one.starter);
}

TIMED static void start_there(void *unused)
{
	(void)unused;
	kernel_thread_switch(&one.starter, &one.thread);
}

TIMED static bool sample_here(struct benchmark_run *run)
{
	uint64_t begin = counter_begin();
	uint64_t created;
	uint64_t ended;
	uint64_t torn_down;

	if (!kernel_thread_create(&one.thread, run_thread)) {
		return benchmark_fail(run, "there are not enough pages for a stack", 0, 0, 0);
	}
	created = counter_end();
	kernel_thread_switch(&one.starter, &one.thread);
	ended = counter_end();
	kernel_thread_destroy(&one.thread);
	torn_down = counter_end_memory();
	sample_record(rows[TOTAL], (int64_t)(one.first - begin));
	sample_record(rows[CREATE], (int64_t)(created - begin));
	sample_record(rows[FIRST_INSTRUCTION], (int64_t)(one.first - created));
	sample_record(rows[EXIT], (int64_t)(ended - one.last));
	sample_record(rows[TEARDOWN], (int64_t)(torn_down - ended));
	return true;
}

TIMED static bool sample_there(struct benchmark_run *run)
{
	uint32_t cpu = smp_online_cpu(1);
	uint64_t begin = counter_begin();

	if (!kernel_thread_create(&one.thread, run_thread) || !smp_post(cpu, start_there, NULL) ||
	    !smp_wait(cpu, WAIT_MS)) {
		return benchmark_fail(run, "core %lu did not run the thread", cpu, 0, 0);
	}
	kernel_thread_destroy(&one.thread);
	sample_record(rows[TOTAL_REMOTE], (int64_t)(one.first - begin));
	return true;
}

TIMED static bool sample(struct benchmark_run *run)
{
	if (spawned++ == 0) {
		spawn_count(&before, NULL);
	}
	return sample_here(run) && (rows[TOTAL_REMOTE] == NULL || sample_there(run));
}

TIMED static void finish(struct benchmark_run *run)
{
	(void)spawn_check_counts(run, &before, NULL, spawned);
}

static const struct benchmark spawn_thread = {
	.name = "spawn.thread",
	.summary = "a thread of the kernel, on the same and on another core",
	.row_count = row_count,
	.prepare = prepare,
	.sample = sample,
	.finish = finish,
};

BENCHMARK(spawn_thread);

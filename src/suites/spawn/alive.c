/*
 * spawn.alive: the n-th process while n - 1 are alive, untracked, on core 0.
 *
 * Metric `total`, factor `alive`: the request -> the first instruction of process number `alive`.
 */
#include "spawn.h"

#define ALIVE_MAX 64

static const struct {
	uint32_t alive;
	const char *factors;
} cases[] = {
	{1, "alive=1"},   {2, "alive=2"},   {4, "alive=4"},   {8, "alive=8"},
	{16, "alive=16"}, {32, "alive=32"}, {64, "alive=64"},
};

#define ROWS (sizeof(cases) / sizeof(cases[0]))

static struct sample_row *rows[ROWS];
static struct spawn spawns[ALIVE_MAX];
static struct spawn_counts before;
static uint64_t spawned;

static uint32_t row_count(uint32_t online)
{
	(void)online;
	return ROWS;
}

UNTIMED static bool prepare(struct benchmark_run *run)
{
	if (!spawn_available(run)) {
		return false;
	}
	for (uint32_t i = 0; i < ROWS; i++) {
		rows[i] = benchmark_row(run, "total", 0, SAMPLE_NO_CPU, cases[i].factors);
		if (rows[i] == NULL) {
			return false;
		}
	}
	return true;
}

/* Starts up to ALIVE_MAX processes; returns how many were begun. */
TIMED static uint32_t start_all(bool *good)
{
	uint32_t row = 0;

	for (uint32_t i = 0; i < ALIVE_MAX; i++) {
		struct spawn *spawn = &spawns[i];

		process_watch(SPAWN_LIMIT_MS);
		spawn_set_up(spawn, TASK_NONE, 0);
		*good = spawn_untracked.make(spawn) && spawn_start(spawn);
		if (!*good) {
			return i + 1;
		}
		if (i + 1 == cases[row].alive) {
			sample_record(rows[row], (int64_t)(spawn->process->first_stamp -
							   spawn->stamps[SPAWN_BEGIN]));
			row++;
		}
	}
	return ALIVE_MAX;
}

TIMED static bool sample(struct benchmark_run *run)
{
	bool good;
	uint32_t begun;

	if (spawned == 0) {
		spawn_count(&before, NULL);
	}
	begun = start_all(&good);
	spawned += begun;
	if (!good) {
		(void)spawn_failed(run, &spawns[begun - 1]);
	}
	for (uint32_t i = 0; i < begun; i++) {
		if (good) {
			address_space_switch(&spawns[i].process->space);
			if (!spawn_finish(&spawns[i])) {
				good = spawn_failed(run, &spawns[i]);
			}
		}
		spawn_unmake(&spawn_untracked, &spawns[i]);
	}
	process_unwatch();
	return good;
}

TIMED static void finish(struct benchmark_run *run)
{
	(void)spawn_check_counts(run, &before, NULL, spawned);
}

static const struct benchmark spawn_alive = {
	.name = "spawn.alive",
	.summary = "a process while others are alive",
	.sample_count = spawn_long_sample_count,
	.sample_us = spawn_long_sample_us,
	.row_count = row_count,
	.prepare = prepare,
	.sample = sample,
	.finish = finish,
};

BENCHMARK(spawn_alive);

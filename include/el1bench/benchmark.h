/*
 * What a benchmark is. Its file fills in a `struct benchmark` and registers it with BENCHMARK (one
 * file may do so for several of a kind); the engine finds it through a linker section. Nothing here
 * can print: results are samples in rows, reasons are kept and printed after timing has ended.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "el1bench/random.h"
#include "el1bench/samples.h"
#include "el1bench/timed.h"

#define BENCHMARK_ROWS_MAX 32768
#define BENCHMARK_MAX 128

struct arguments;
struct benchmark_run;

struct benchmark {
	const char *name;    /* "suite.case", e.g. "ipi.normal" */
	const char *summary; /* one line for a person */
	/*
	 * Benchmarks of one group are sampled alternately, in an order that is drawn anew for each
	 * pair of rounds and mirrored in the second (A B B A), so that drift hits all alike. NULL:
	 * alone.
	 */
	const char *group;
	/* Within its group, the benchmark whose samples are the base line; NULL: none. */
	const char *control;
	/* Samples per row are `samples=`; this caps or replaces it where set. NULL: as asked. */
	uint32_t (*sample_count)(uint32_t asked);
	/*
	 * One sample covers many operations, `benchmark_batch` of them: samples per row are then
	 * fewer than asked (engine_plan.c), so that it runs about as long as others.
	 */
	bool batched;
	/*
	 * Above 0, it may cost the run a core: those of the same hazard are sampled, in drawn
	 * order, after all that have less.
	 */
	uint32_t hazard;
	uint32_t variant; /* free for the benchmark's use, and so is ... */
	void *data;       /* ... this: what code of several benchmarks tells them apart by */
	/* What a sample takes beyond the usual, in microseconds, for the plan. NULL: nothing. */
	uint32_t (*sample_us)(uint32_t online);
	/* Rows that `prepare` opens at most, for the plan. NULL: none, it is a check. */
	uint32_t (*row_count)(uint32_t online);
	/* An upper bound of all of its samples' time in milliseconds; NULL: from their number. */
	uint64_t (*bound_ms)(const struct benchmark_run *run);
	/*
	 * Before timing: checks that it can run and opens rows with `benchmark_row`. False after
	 * `benchmark_skip` or `benchmark_fail`. NULL: nothing to prepare (a check).
	 */
	bool (*prepare)(struct benchmark_run *run);
	/*
	 * While timing: takes sample `run->index` for every row. False after `benchmark_fail`: the
	 * benchmark ends here, what it has stays. A check (no rows) is called once. TIMED code.
	 */
	bool (*sample)(struct benchmark_run *run);
	/* While timing, after the last sample or a failure: stops helpers. May be NULL. */
	void (*finish)(struct benchmark_run *run);
};

/* Registers a benchmark (a pointer in a linker section, sorted by identifier). */
#define BENCHMARK(identifier)                                                                      \
	static const struct benchmark *const identifier##_entry                                    \
		__attribute__((used, section(".benchmarks." #identifier))) = &(identifier)

enum benchmark_state {
	BENCHMARK_NOT_SELECTED,
	BENCHMARK_READY,
	BENCHMARK_RUNNING,
	BENCHMARK_PASSED,
	BENCHMARK_SKIPPED,
	BENCHMARK_FAILED
};

#define BENCHMARK_CALLERS 3

/* What somebody tried to print while a benchmark was running. */
struct stray_output {
	uint64_t bytes;
	uint64_t callers[BENCHMARK_CALLERS]; /* of the first write: return addresses, innermost
						first, 0 where there are fewer */
};

struct benchmark_run {
	const struct benchmark *benchmark;
	enum benchmark_state state;
	uint32_t index;              /* of the sample being taken; warm-up samples count apart */
	uint32_t samples;            /* how many will be taken */
	struct random_state *random; /* of this boot; core 0 only */
	struct sample_row *rows[8];  /* free for the benchmark's use */
	/* Why it was skipped or failed: format and numbers, formatted after timing. */
	const char *reason;
	uint64_t reason_numbers[3];
	struct stray_output stray; /* with any bytes in it the benchmark counts as failed */
};

/* Opens a row for the benchmark that is being prepared; NULL (and failed) if memory is used up. */
struct sample_row *benchmark_row(struct benchmark_run *run, const char *metric, int32_t cpu,
				 int32_t peer, const char *factors);

/*
 * Say why a benchmark cannot run, or what went wrong; always return false. `reason` is a literal
 * with up to three %lu (or %ld, or %s for the address of a literal). The first word stands. Any
 * time, also from timed code, core 0.
 */
bool benchmark_skip(struct benchmark_run *run, const char *reason, uint64_t a, uint64_t b,
		    uint64_t c);
bool benchmark_fail(struct benchmark_run *run, const char *reason, uint64_t a, uint64_t b,
		    uint64_t c);

/*
 * Operations that a sample of a batched benchmark covers, 1 to BENCHMARK_BATCH_MAX: as `batch=`
 * says or, without it, the smallest power of two from BENCHMARK_BATCH_MIN on with which a sample
 * spans BENCHMARK_BATCH_STEPS counter steps, if `operations` (at least 1) took `ticks` in a pilot.
 * Timed code may call it.
 */
#define BENCHMARK_BATCH_MIN 2
#define BENCHMARK_BATCH_MAX 65536
#define BENCHMARK_BATCH_STEPS 256
uint32_t benchmark_batch(uint64_t ticks, uint32_t operations);

/*
 * Memory for the benchmark that is being prepared, aligned to 64, out of what samples and report
 * leave; NULL if there is not as much. Never given back.
 */
void *benchmark_memory(uint64_t bytes);

#define BENCHMARK_NOTES_MAX 160

/* A line for the log: `text` is a literal with up to three %lu or %lx. */
struct benchmark_note {
	const struct benchmark *benchmark;
	const char *text;
	uint64_t numbers[3];
};

/*
 * Keeps a line, to be printed after timing: facts that are no samples. Beyond BENCHMARK_NOTES_MAX
 * they are dropped. Any time, also from timed code, core 0.
 */
void benchmark_note(const struct benchmark_run *run, const char *text, uint64_t a, uint64_t b,
		    uint64_t c);

/* Counts that a benchmark keeps of a core, beside samples. */
#define BENCHMARK_COUNTS_MAX 10
struct benchmark_counts {
	const struct benchmark *benchmark;
	int32_t cpu;
	uint32_t count;           /* of names and values */
	const char *const *names; /* the first value tells whether there is anything to report */
	uint64_t values[BENCHMARK_COUNTS_MAX];
	struct benchmark_counts *next; /* the engine's */
};

/* Has counts printed after timing, unless the first one is 0. While preparing, core 0. */
void benchmark_count(struct benchmark_counts *counts);

/* The boot arguments of this run. From the plan on, any core. */
const struct arguments *benchmark_arguments(void);

/* A gap between samples: a random number of spins, which are then made. Draw on core 0. */
uint32_t benchmark_draw_gap(struct benchmark_run *run);
void benchmark_spin(uint32_t spins);

/* The counter's real step, in ticks, as measured at start; at least 1. */
uint32_t engine_counter_step(void);

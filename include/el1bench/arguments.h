/*
 * Boot arguments: words with the prefix `el1bench.`, from /chosen/bootargs or from U-Boot's `go`.
 * Words without the prefix belong to others: listed once, ignored. Inside the prefix an unknown key
 * or a bad value refuses the run. No hardware access; runs on a host too.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "el1bench/factors.h"

#define ARGUMENTS_TEXT_BYTES 2048 /* of all words together; more is refused */
#define ARGUMENTS_SAMPLES_MAX 100000000U
#define ARGUMENTS_BATCH_MAX 65536U
#define ARGUMENTS_BUDGET_MAX 86400000U
#define ARGUMENTS_POWER_STATES 3U

/* What ends a suspend. WAKE_AUTO: the core's timer, unless the tree says that it stops. */
enum wake_source { WAKE_AUTO, WAKE_TIMER, WAKE_SGI };

enum on_exit { ON_EXIT_OFF, ON_EXIT_RESET, ON_EXIT_HALT, ON_EXIT_SEMIHOST };

struct arguments {
	char text[ARGUMENTS_TEXT_BYTES]; /* as given, one space between words */
	char suites[256];                /* comma-separated suites or benchmarks; "" means all */
	char emulated[64];               /* what the host says emulates us, "" on hardware */
	bool samples_auto;               /* samples=auto: until `ci` is reached, or a cap */
	uint32_t ci_ppm;                 /* ci=: parts per million, 100 to 500000; 0: not given */
	uint32_t samples;                /* per row, 1 to ARGUMENTS_SAMPLES_MAX; default 1000 */
	uint32_t warmup;                 /* per row, 0 to 1000000; default 16 */
	uint32_t batch;                  /* operations, 1 to 65536; default 0: from a pilot */
	uint64_t seed;                   /* default 1 */
	uint32_t boot;                   /* index of this boot within a run, default 0 */
	uint32_t pace;                   /* baud of the line to imagine, 300 to 4000000; 0: none */
	uint32_t baud;                   /* of the UART while samples are sent, 9600 to 4000000;
					    0: as firmware left it */
	uint32_t clock_ms;               /* least time between the marks for the host's clock,
					    0 to 600000; default 700; 0: no marks */
	struct factor_lists factors;     /* receiver=, payload=, cache=, load=, barrier= */
	struct pair_list pairs;          /* pair= */
	uint32_t budget_ms;              /* of a benchmark that works through many cores or pairs,
					    1 to ARGUMENTS_BUDGET_MAX; default 10000 */
	bool dump_raw;                   /* dump=raw (default) or summary */
	bool rt_instr;                   /* rt_instr=on: lines for test farms; default off */
	bool watchdog;                   /* watchdog=on: a hang resets the board; default off */
	enum on_exit on_exit;            /* default halt; who runs it chooses where not given */
	bool on_exit_given;
	bool samples_given;
	uint32_t power_state_count; /* instead of the tree's idle states, if not 0 */
	uint32_t power_states[ARGUMENTS_POWER_STATES];
	uint32_t sleep_us; /* mean length of a suspend, 50 to 1000000; default 1000 */
	enum wake_source wake;
	bool refused;      /* a word inside the prefix was bad ... */
	char refusal[160]; /* ... this says which and why */
	char ignored[512]; /* foreign words, cut to fit */
};

/* Sets the defaults. */
void arguments_defaults(struct arguments *arguments);

/* Parses `text` (any bytes, NUL-terminated) on top of what is there. The first bad word refuses. */
void arguments_parse(struct arguments *arguments, const char *text);

/* True if the list in `suites` selects benchmark `name` ("ipi.normal"): by suite, or in full. */
bool arguments_selects(const struct arguments *arguments, const char *name);

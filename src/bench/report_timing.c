/*
 * The console's side of the timed part: nothing is on its way out when timing starts, nothing gets
 * out while it lasts, and what was tried is counted, put down to a benchmark, and shown afterwards.
 * Around it stand the marks by which the host checks the counter against its own clock.
 */
#include <inttypes.h>

#include "el1bench/console.h"
#include "el1bench/counter.h"
#include "el1bench/report.h"
#include "el1bench/wait.h"
#include "el1bench/wire.h"
#include "report_state.h"

/*
 * The ends of the interval are marked several times, so that the host can tell how far it can trust
 * the arrival of a line; this far apart, so that marks which were held up together show.
 */
#define MARKS 8
#define MARK_GAP_MS 15

#define STRAY_LINE_CHARACTERS 120

_Static_assert(CONSOLE_CALLERS == BENCHMARK_CALLERS, "one is handed on as the other");

static uint64_t bytes_before;
static uint64_t begin_mark; /* the counter; 0: there is none */

/* One mark. Nothing else is on its way, so it takes as long to arrive as any other. */
static uint64_t mark(const char *name)
{
	uint64_t counter;

	console_drain();
	counter = counter_begin();
	wire_line("clock", "mark=%s counter=%" PRIu64, name, counter);
	console_drain();
	return counter;
}

static void marks(const char *name)
{
	for (unsigned int i = 1; i < MARKS; i++) {
		(void)mark(name);
		wait_ms(MARK_GAP_MS);
	}
	(void)mark(name);
}

void report_clock_begin(const struct arguments *arguments)
{
	if (arguments->clock_ms > 0) {
		begin_mark = counter_begin();
		marks("begin");
	}
}

void report_clock_end(const struct arguments *arguments)
{
	if (begin_mark != 0) {
		wait_until(begin_mark + counter_hz() * arguments->clock_ms / 1000);
		marks("end");
	}
}

static void timing_starts(void)
{
	console_drain();
	bytes_before = console_bytes_written();
	console_lock(engine_note_output);
	wait_for_tick();
}

static void timing_ends(struct engine_checks *checks)
{
	checks->uart_bytes_in_timed = console_bytes_written() - bytes_before;
	checks->console_refused_bytes = console_refused_bytes();
	console_unlock();
	(void)mark("timed");
}

const struct engine_hooks report_timing_hooks = {timing_starts, timing_ends};

void report_stray_text(void)
{
	size_t bytes;
	const char *text = console_refused_text(&bytes);
	uint64_t all = console_refused_bytes();
	char line[STRAY_LINE_CHARACTERS + 1];
	size_t length = 0;

	if (all == 0) {
		return;
	}
	text_line("%" PRIu64 " bytes were written while timing; they are:", all);
	for (size_t i = 0; i < bytes; i++) {
		if (text[i] != '\n') {
			line[length++] = text[i] == '\0' ? '?' : text[i];
		}
		if (text[i] == '\n' || length == STRAY_LINE_CHARACTERS || i + 1 == bytes) {
			line[length] = '\0';
			text_line("| %s", line);
			length = 0;
		}
	}
	if (all > bytes) {
		text_line("[cut: %" PRIu64 " more bytes were not kept]", all - bytes);
	}
}

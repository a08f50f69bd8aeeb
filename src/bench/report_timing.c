/*
 * The console's side of the timed part: nothing is on its way out when timing starts, nothing gets
 * out while it lasts, and what was tried is counted.
 */
#include "el1bench/console.h"
#include "el1bench/report.h"

static uint64_t bytes_before;

static void timing_starts(void)
{
	console_drain();
	bytes_before = console_bytes_written();
	console_lock();
}

static void timing_ends(struct engine_checks *checks)
{
	checks->uart_bytes_in_timed = console_bytes_written() - bytes_before;
	checks->console_refused_bytes = console_refused_bytes();
	console_unlock();
}

const struct engine_hooks report_timing_hooks = {timing_starts, timing_ends};

/*
 * What an earlier boot left in memory: its rows and outcomes, in lines whose types say so.
 */
#include <inttypes.h>

#include "el1bench/arena.h"
#include "el1bench/console.h"
#include "el1bench/report.h"
#include "el1bench/survivors.h"
#include "el1bench/wire.h"
#include "report_state.h"

#define TYPE_PREFIX "was-"

static void report_boot(const struct arguments *arguments)
{
	const struct survivors_boot *boot = survivors_adopt();
	const struct statistics *statistics;

	wire_line("survivors",
		  "state=whole boot=%" PRIu32 " seed=%" PRIu64 " entry-stamp=%" PRIu64
		  " benchmarks=%" PRIu32 " finished=%" PRIu32 " bound-ms=%" PRIu64 " : %s",
		  boot->boot, boot->seed, boot->entry_stamp, boot->benchmarks, boot->finished,
		  report_output_bound_ms(arguments), boot->arguments);
	wire_prefix_types(TYPE_PREFIX);
	statistics = report_statistics();
	if (statistics != NULL) {
		report_metrics(statistics);
	}
	report_outcomes();
	if (statistics != NULL && arguments->dump_raw) {
		report_raw();
	}
	wire_line("end", "metrics=%" PRIu32 " raw=%" PRIu32, report_counts.metric_lines,
		  report_counts.raw_lines);
	wire_prefix_types("");
	report_counts.metric_lines = 0;
	report_counts.raw_lines = 0;
	samples_adopt(NULL, 0);
	console_drain();
}

void report_survivors(const struct arguments *arguments)
{
	size_t mark = arena_mark();

	switch (survivors_look()) {
	case SURVIVORS_WHOLE:
		report_boot(arguments);
		break;
	case SURVIVORS_SPOILT:
		wire_line("survivors",
			  "state=spoilt : those of another image, or a checksum does not "
			  "match");
		break;
	case SURVIVORS_NONE:
		break;
	}
	survivors_forget();
	arena_release(mark);
	if (arguments->watchdog) {
		survivors_keep();
	}
}

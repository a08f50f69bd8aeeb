/*
 * The frame of a boot's output: plan, results, failures, trailer, and the status that follows from
 * all of it.
 */
#include "el1bench/report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "el1bench/console.h"
#include "el1bench/engine.h"
#include "el1bench/survivors.h"
#include "el1bench/symbols.h"
#include "el1bench/wait.h"
#include "el1bench/wire.h"
#include "report_state.h"

#define REASON_BYTES 256
#define COUNTS_BYTES 512                  /* BENCHMARK_COUNTS_MAX of them, 20 digits each */
#define NAMES_BYTES (WIRE_LINE_MAX - 128) /* leaves room for the rest of the plan line */

/* The share of the output in the time bound: a character takes ten bits. */
#define BOUND_BAUD 115200U
#define BOUND_FIXED_CHARACTERS 16384
#define BOUND_ROW_CHARACTERS 1024
#define BOUND_SAMPLE_CHARACTERS 4

/* In which a reader that has seen the line changes its own port's speed. */
#define BAUD_CHANGE_MS 500

struct report_counts report_counts;

static bool ended;

enum benchmark_state report_outcome(const struct benchmark_run *run)
{
	if (run->state == BENCHMARK_READY || run->state == BENCHMARK_RUNNING ||
	    run->stray.bytes > 0) {
		return BENCHMARK_FAILED;
	}
	return run->state;
}

/* `wrote N bytes while timing, from A+0x1 < B+0x2`: who, and who called them. */
static void describe_stray(const struct stray_output *stray, char *text, size_t capacity)
{
	size_t length = (size_t)snprintf(text, capacity, "wrote %" PRIu64 " bytes while timing",
					 stray->bytes);

	for (unsigned int i = 0; i < BENCHMARK_CALLERS && stray->callers[i] != 0; i++) {
		uint64_t offset = stray->callers[i];
		const char *symbol = symbol_lookup(stray->callers[i], &offset);

		if (length < capacity) {
			length += (size_t)snprintf(text + length, capacity - length,
						   "%s%s+0x%" PRIx64, i == 0 ? ", from " : " < ",
						   symbol == NULL ? "?" : symbol, offset);
		}
	}
}

/* Reasons and notes are literals with up to three numbers. */
static const char *format_numbers(const char *format, const uint64_t numbers[3])
{
	static char text[REASON_BYTES];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	(void)snprintf(text, sizeof(text), format, numbers[0], numbers[1], numbers[2]);
#pragma GCC diagnostic pop
	return text;
}

const char *report_reason(const struct benchmark_run *run)
{
	static char stray[REASON_BYTES];

	if (run->reason == NULL && run->stray.bytes > 0) {
		describe_stray(&run->stray, stray, sizeof(stray));
		return stray;
	}
	if (run->reason == NULL) {
		return report_outcome(run) == BENCHMARK_FAILED ? "the run ended before it did" : "";
	}
	return format_numbers(run->reason, run->reason_numbers);
}

uint64_t report_output_bound_ms(const struct arguments *arguments)
{
	uint32_t paced = arguments->pace;
	uint32_t baud = paced > 0 && paced < BOUND_BAUD ? paced : BOUND_BAUD;
	uint64_t characters = BOUND_FIXED_CHARACTERS;

	for (uint32_t i = 0; i < samples_row_count(); i++) {
		characters += BOUND_ROW_CHARACTERS;
		if (arguments->dump_raw) {
			characters += (uint64_t)samples_row(i)->capacity * BOUND_SAMPLE_CHARACTERS;
		}
	}
	return characters * 10000 / baud + arguments->clock_ms;
}

/* Fills in the comma-separated names of what will run; ends in `...` if they do not all fit. */
static uint32_t list_names(char *names, size_t capacity)
{
	uint32_t count = 0;
	size_t length = 0;
	bool cut = false;

	names[0] = '\0';
	for (uint32_t i = 0; i < engine_run_count(); i++) {
		const struct benchmark_run *run = engine_run_at(i);
		size_t need = strlen(run->benchmark->name) + 1;

		if (run->state != BENCHMARK_READY) {
			continue;
		}
		cut = cut || length + need + sizeof("...") > capacity;
		if (!cut) {
			length += (size_t)snprintf(names + length, capacity - length, "%s%s",
						   count == 0 ? "" : ",", run->benchmark->name);
		}
		count++;
	}
	if (cut) {
		(void)snprintf(names + length, capacity - length, ",...");
	}
	return count;
}

void report_plan(const struct arguments *arguments)
{
	static char names[NAMES_BYTES];
	uint32_t count = list_names(names, sizeof(names));

	wire_line("info", "key=stack-offset : %" PRIu32, engine_stack_offset());
	wire_line("info", "key=buffer-offset : %" PRIu32, engine_buffer_offset());
	wire_line("plan",
		  "benchmarks=%" PRIu32 " rows=%" PRIu32 " samples=%" PRIu32 " warmup=%" PRIu32
		  " bound-ms=%" PRIu64 " ci=%" PRIu32 " : %s",
		  count, samples_row_count(), engine_samples(), arguments->warmup,
		  engine_bound_ms() + report_output_bound_ms(arguments), engine_ci_ppm(), names);
}

void report_outcomes(void)
{
	static const char *const words[] = {
		[BENCHMARK_PASSED] = "passed",
		[BENCHMARK_SKIPPED] = "skipped",
		[BENCHMARK_FAILED] = "failed",
	};

	for (uint32_t i = 0; i < engine_run_count(); i++) {
		const struct benchmark_run *run = engine_run_at(i);
		const char *reason = report_reason(run);

		if (run->state != BENCHMARK_NOT_SELECTED) {
			wire_line("outcome", "%s %s%s%s", run->benchmark->name,
				  words[report_outcome(run)], reason[0] == '\0' ? "" : " : ",
				  reason);
		}
	}
}

const char *report_note(const struct benchmark_note *note)
{
	return format_numbers(note->text, note->numbers);
}

static void report_notes(void)
{
	const struct benchmark_note *note;

	for (uint32_t i = 0; (note = engine_note(i)) != NULL; i++) {
		wire_line("note", "name=%s : %s", note->benchmark->name, report_note(note));
	}
}

static void report_benchmark_counts(void)
{
	for (const struct benchmark_counts *counts = engine_counts(); counts != NULL;
	     counts = counts->next) {
		char text[COUNTS_BYTES] = "";
		size_t length = 0;

		for (uint32_t i = 0; i < counts->count; i++) {
			length += (size_t)snprintf(text + length, sizeof(text) - length,
						   " %s=%" PRIu64, counts->names[i],
						   counts->values[i]);
		}
		if (counts->values[0] > 0) {
			wire_line("counts", "%s cpu=%" PRId32 "%s", counts->benchmark->name,
				  counts->cpu, text);
		}
	}
}

static void report_checks(void)
{
	const struct engine_checks *checks = engine_checks();

	wire_line("check",
		  "uart_bytes_in_timed=%" PRIu64 " console_refused_bytes=%" PRIu64
		  " counter_backwards=%" PRIu64 " lost_interrupts=%" PRIu64
		  " spurious_interrupts=%" PRIu64,
		  checks->uart_bytes_in_timed, console_refused_bytes(), checks->counter_backwards,
		  checks->lost_interrupts, checks->spurious_interrupts);
	if (console_refused_bytes() > 0) {
		report_failure("console", "%" PRIu64 " bytes were written while timing",
			       console_refused_bytes());
	}
}

/*
 * The samples are most of what is sent: at the speed that was asked for, if the UART can, and with
 * time for the reader to follow. The reader goes back with the last line at that speed.
 */
static void report_raw_at(uint32_t baud)
{
	uint32_t before;

	if (baud == 0 || !console_can_speed(baud)) {
		if (baud != 0) {
			wire_line("baud", "rate=0 : the UART cannot be set to %" PRIu32, baud);
		}
		report_raw();
		return;
	}
	wire_line("baud", "rate=%" PRIu32, baud);
	console_drain();
	wait_ms(BAUD_CHANGE_MS);
	before = console_set_speed(baud);
	report_raw();
	wire_line("baud", "rate=0 : as before");
	console_drain();
	wait_ms(BAUD_CHANGE_MS);
	console_restore_speed(before);
}

void report_results(const struct arguments *arguments)
{
	const struct statistics *statistics = report_statistics();

	report_stray_text();
	report_table(arguments, statistics);
	report_image_crc();
	if (statistics != NULL) {
		report_metrics(statistics);
	}
	if (statistics != NULL && arguments->rt_instr) {
		report_rt_instr(statistics);
	}
	report_outcomes();
	report_notes();
	report_benchmark_counts();
	report_checks();
	if (statistics != NULL && arguments->dump_raw) {
		report_raw_at(arguments->baud);
	}
}

void report_failure(const char *name, const char *format, ...)
{
	static char text[REASON_BYTES];
	va_list numbers;

	va_start(numbers, format);
	(void)vsnprintf(text, sizeof(text), format, numbers);
	va_end(numbers);
	report_counts.failures++;
	wire_line("fail", "name=%s : %s", name, text);
}

static enum run_status decide(bool refused)
{
	if (refused) {
		return RUN_REFUSED;
	}
	if (report_counts.failures > 0 || console_refused_bytes() > 0 ||
	    engine_checks()->uart_bytes_in_timed > 0) {
		return RUN_FAILED;
	}
	for (uint32_t i = 0; i < engine_run_count(); i++) {
		if (report_outcome(engine_run_at(i)) == BENCHMARK_FAILED) {
			return RUN_FAILED;
		}
	}
	return RUN_PASSED;
}

enum run_status report_end(bool refused)
{
	static const char *const words[] = {
		[RUN_PASSED] = "passed",
		[RUN_FAILED] = "failed",
		[RUN_REFUSED] = "refused",
	};
	enum run_status status = decide(refused);

	wire_prefix_types(""); /* in case of a panic while survivors were reported */
	wire_line("end", "status=%s lines=%" PRIu32 " metrics=%" PRIu32 " raw=%" PRIu32,
		  words[status], wire_line_count() + 1, report_counts.metric_lines,
		  report_counts.raw_lines);
	ended = true;
	console_drain();
	survivors_forget();
	return status;
}

bool report_ended(void)
{
	return ended;
}

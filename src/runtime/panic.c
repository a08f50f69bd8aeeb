/*
 * The end of a run that cannot go on. The report is formatted on the stack and goes straight to the
 * console, whatever line was being formatted; only then follows what was measured so far.
 */
#include "el1bench/panic.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "el1bench/barrier.h"
#include "el1bench/console.h"
#include "el1bench/counter.h"
#include "el1bench/cpu.h"
#include "el1bench/engine.h"
#include "el1bench/exit.h"
#include "el1bench/gic.h"
#include "el1bench/image.h"
#include "el1bench/report.h"
#include "el1bench/symbols.h"
#include "el1bench/sysreg.h"

#define STOP_WAIT_MS 50
#define CPACR_FPEN (UINT64_C(3) << 20)

static uint32_t panic_count;
static volatile bool core_0_stopped;

static void print(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void print(const char *format, ...)
{
	char line[200];
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	if (length > 0) {
		console_write(line,
			      (size_t)length < sizeof(line) ? (size_t)length : sizeof(line) - 1);
	}
}

/* ESR_ELx.EC, bits 31:26 (D17.2.37 of the Arm ARM). */
static const char *exception_class_name(uint64_t esr)
{
	switch (esr >> 26 & 0x3f) {
	case 0x00:
		return "undefined instruction";
	case 0x01:
		return "trapped WFI or WFE";
	case 0x07:
		return "trapped floating point access";
	case 0x0e:
		return "illegal execution state";
	case 0x15:
		return "SVC";
	case 0x16:
		return "HVC";
	case 0x17:
		return "SMC";
	case 0x18:
		return "trapped system register access";
	case 0x20:
	case 0x21:
		return "instruction abort";
	case 0x22:
		return "unaligned PC";
	case 0x24:
	case 0x25:
		return "data abort";
	case 0x26:
		return "unaligned SP";
	case 0x2f:
		return "SError";
	case 0x30:
	case 0x31:
		return "breakpoint";
	case 0x32:
	case 0x33:
		return "software step";
	case 0x34:
	case 0x35:
		return "watchpoint";
	case 0x3c:
		return "BRK instruction";
	default:
		return "exception of an unlisted class";
	}
}

/* The vector says more than ESR where the exception is none that ESR describes. */
static const char *exception_name(const struct exception_frame *frame)
{
	switch (frame->vector % 4) {
	case 1:
		return "unexpected IRQ";
	case 2:
		return "unexpected FIQ";
	case 3:
		return "SError";
	default:
		return exception_class_name(frame->esr);
	}
}

static void print_address(const char *name, uint64_t address)
{
	uint64_t offset;
	const char *symbol = symbol_lookup(address, &offset);

	if (symbol != NULL) {
		print("  %-4s 0x%016" PRIx64 " %s+0x%" PRIx64 "\n", name, address, symbol, offset);
	} else {
		print("  %-4s 0x%016" PRIx64 "\n", name, address);
	}
}

static void print_frame(const struct exception_frame *frame)
{
	print_address("elr", frame->elr);
	print_address("x30", frame->x[30]);
	print("  esr  0x%016" PRIx64 " far 0x%016" PRIx64 "\n", frame->esr, frame->far);
	print("  spsr 0x%016" PRIx64 " sp  0x%016" PRIx64 " vector %" PRIu64 "\n", frame->spsr,
	      frame->sp, frame->vector);
	for (unsigned int i = 0; i < 30; i += 3) {
		print("  x%-3u 0x%016" PRIx64 " x%-2u 0x%016" PRIx64 " x%-2u 0x%016" PRIx64 "\n", i,
		      frame->x[i], i + 1, frame->x[i + 1], i + 2, frame->x[i + 2]);
	}
}

/* On core 0, interrupted because another core reports: stands still and leaves it the console. */
static void stop_core_0(uint32_t intid, uint32_t source, uint64_t stamp)
{
	(void)intid;
	(void)source;
	(void)stamp;
	irq_mask();
	core_0_stopped = true;
	for (;;) {
		wfi();
	}
}

/* A bounded attempt: a core 0 that keeps its interrupts masked goes on, and its text mixes in. */
static void stop_core_0_first(void)
{
	struct deadline deadline = deadline_in_ms(STOP_WAIT_MS);

	if (cpu_index() == 0 || gic == NULL) {
		return;
	}
	gic_set_handler(GIC_SGI_CHECK, stop_core_0);
	dsb_ishst();
	gic->send(0, GIC_SGI_CHECK);
	while (!core_0_stopped && !deadline_passed(&deadline)) {
		cpu_yield();
	}
}

/* What is running, for a person. */
static const char *running(void)
{
	const struct benchmark_run *run = engine_current();

	return run == NULL ? "no benchmark" : run->benchmark->name;
}

/* Takes the console over; false if the trailer is out already and nothing may follow it. */
static bool begin_report(void)
{
	stop_core_0_first();
	console_force_unlock();
	if (!console_started()) {
		exit_without_console("el1bench: stopped before there was a console");
	}
	print("\n");
	return !report_ended();
}

/* What was measured so far, the trailer, and out. */
static void end_report(void) __attribute__((noreturn));
static void end_report(void)
{
	const struct arguments *arguments = image_arguments();

	engine_mark_failed("the run was stopped on core %lu", cpu_index(), 0, 0);
	report_results(arguments);
	(void)report_end(false);
	exit_image(arguments->on_exit, RUN_FAILED);
}

/*
 * Returns for the first panic only. A second one hit the report itself: it says so in one line and
 * ends the run; a third hit that, and just stops. If two cores panic, the later one stands still.
 */
static void first_panic_only(void)
{
	static uint32_t panicking_cpu;
	uint32_t count;

	irq_mask();
	/* libc's formatting uses them, and a core may have lost just that. */
	SYSREG_WRITE(cpacr_el1, CPACR_FPEN);
	isb();
	count = __atomic_fetch_add(&panic_count, 1, __ATOMIC_ACQ_REL);
	if (count == 0) {
		panicking_cpu = cpu_index();
		return;
	}
	if (count == 1 && panicking_cpu == cpu_index() && console_started()) {
		print("\nel1bench: a second exception, in the report of the first one\n");
		exit_image(image_arguments()->on_exit, RUN_FAILED);
	}
	for (;;) {
		wfi();
	}
}

void panic_exception(const struct exception_frame *frame)
{
	uint64_t offset = 0;
	const char *symbol;
	bool report;

	first_panic_only();
	report = begin_report();
	print("el1bench: %s on core %" PRIu32 " during %s\n", exception_name(frame), cpu_index(),
	      running());
	print_frame(frame);
	if (!report) {
		exit_image(image_arguments()->on_exit, RUN_FAILED);
	}
	symbol = symbol_lookup(frame->elr, &offset);
	report_failure("exception",
		       "core %" PRIu32 ", during %s: %s at 0x%" PRIx64 " (%s+0x%" PRIx64
		       "), esr 0x%" PRIx64 ", far 0x%" PRIx64,
		       cpu_index(), running(), exception_name(frame), frame->elr,
		       symbol == NULL ? "unknown" : symbol, offset, frame->esr, frame->far);
	end_report();
}

void panic(const char *format, ...)
{
	char reason[160];
	va_list arguments;
	bool report;

	first_panic_only();
	va_start(arguments, format);
	vsnprintf(reason, sizeof(reason), format, arguments);
	va_end(arguments);
	report = begin_report();
	print("el1bench: stopped on core %" PRIu32 " during %s: %s\n", cpu_index(), running(),
	      reason);
	if (!report) {
		exit_image(image_arguments()->on_exit, RUN_FAILED);
	}
	report_failure("stop", "core %" PRIu32 ", during %s: %s", cpu_index(), running(), reason);
	end_report();
}

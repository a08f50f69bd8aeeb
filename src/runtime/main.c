/*
 * A boot, from the device tree to the trailer. image_main is its table of contents.
 */
#include "el1bench/image.h"

#include <inttypes.h>
#include <stdio.h>

#include "el1bench/arena.h"
#include "el1bench/barrier.h"
#include "el1bench/console.h"
#include "el1bench/engine.h"
#include "el1bench/exit.h"
#include "el1bench/gic.h"
#include "el1bench/mmu.h"
#include "el1bench/platform.h"
#include "el1bench/pmf.h"
#include "el1bench/psci.h"
#include "el1bench/report.h"
#include "el1bench/smp.h"
#include "el1bench/suspend.h"
#include "el1bench/wait.h"

#define ARENA_BYTES_MAX (UINT64_C(1) << 30)

/* What the watchdog waits for the next line of output, besides the interval of the host's check. */
#define WATCHDOG_MS 120000

static struct arguments arguments;
static bool cores_explained; /* a line has said already why there is one core only */

const struct arguments *image_arguments(void)
{
	return &arguments;
}

/* The trailer, and out. */
static void finish(bool refused) __attribute__((noreturn));
static void finish(bool refused)
{
	enum run_status status;

	if (!refused) {
		report_clock_end(&arguments);
	}
	status = report_end(refused);

	exit_image(arguments.on_exit, status);
}

static void find_machine(void)
{
	if (!platform_discover()) {
		exit_without_console("el1bench: no device tree: neither x0, nor a word of `go`, "
				     "nor the start of memory, nor the image holds a valid one");
	}
}

static void start_console(void)
{
	if (platform.uart == NULL) {
		static char text[160];

		snprintf(text, sizeof(text),
			 "el1bench: the device tree (%s) names no console UART that can be driven "
			 "(stdout-path: %s)",
			 tree_source_name(platform.tree_source),
			 platform.uart_compatible[0] != '\0' ? platform.uart_compatible : "none");
		exit_without_console(text);
	}
	console_start(platform.uart, platform.uart_registers);
}

/* An emulator is switched off when all is done; a board stays as it is, for whoever looks at it. */
static void read_arguments(void)
{
	arguments_parse(&arguments, platform_boot_arguments());
	if (!arguments.on_exit_given && arguments.emulated[0] != '\0') {
		arguments.on_exit = ON_EXIT_OFF;
	}
}

static void check_entry_level(void)
{
	if (boot_record.entry_el == 3) {
		report_failure("entry", "entered at EL3: start the image at EL2 or EL1, after "
					"firmware has set up EL3");
		finish(false);
	}
}

static void check_arguments(void)
{
	if (arguments.refused) {
		report_failure("arguments", "%s", arguments.refusal);
		finish(true);
	}
}

static void start_watchdog(void)
{
	if (arguments.watchdog) {
		platform_start_watchdog(WATCHDOG_MS + arguments.clock_ms);
	}
}

/* The largest free range that can be mapped. */
static void start_arena(void)
{
	for (uint32_t i = 0; i < platform.memory_count; i++) {
		const struct memory_range *range = &platform.memory[i];
		uint64_t bytes = range->bytes < ARENA_BYTES_MAX ? range->bytes : ARENA_BYTES_MAX;
		void *start = mmu_map(range->start, bytes, MMU_MEMORY);

		if (start != NULL) {
			arena_start(start, bytes);
			return;
		}
	}
	report_failure("memory", "the device tree (%s) leaves no memory to keep samples in",
		       tree_source_name(platform.tree_source));
	finish(false);
}

static void start_gic(void)
{
	const char *reason = "none that the device tree describes can be driven";

	if (platform.gic_found && gic_start(&platform.gic, &reason)) {
		irq_unmask();
		return;
	}
	report_failure("gic", "no interrupt controller: %s; going on with one core", reason);
	cores_explained = true;
}

static void start_psci(void)
{
	if (psci_start(platform.conduit)) {
		return;
	}
	report_failure("psci", "no firmware to start cores with: %s; going on with one core",
		       platform.conduit == PSCI_CONDUIT_NONE ? "the device tree describes no PSCI"
							     : "PSCI_VERSION is not answered");
	cores_explained = true;
}

static void find_idle_states(void)
{
	int64_t features = psci_call(PSCI_FEATURES, PSCI_CPU_SUSPEND, 0, 0);
	uint32_t refused;

	if (!platform_find_idle_states(arguments.power_states, arguments.power_state_count,
				       features > 0 && (features & PSCI_FEATURE_EXTENDED) != 0,
				       &refused)) {
		report_failure("arguments",
			       "power_state=0x%" PRIx32
			       " suspends the whole machine; nothing wakes "
			       "it",
			       refused);
		finish(true);
	}
}

static void report_absent_core(uint32_t cpu, const char *reason)
{
	char name[16];

	if (!cores_explained) {
		snprintf(name, sizeof(name), "cpu.%" PRIu32, cpu);
		report_failure(name, "%s", reason);
	}
}

static void plan(void)
{
	const char *reason = "";
	uint64_t numbers[3] = {0};

	wait_for_tick(); /* the plan calibrates with the counter */
	if (!engine_plan(&arguments, &reason, numbers)) {
		/* The engine's reasons are literals with up to three numbers. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
		report_failure("arguments", reason, numbers[0], numbers[1], numbers[2]);
#pragma GCC diagnostic pop
		finish(true);
	}
	report_clock_begin(&arguments);
	report_plan(&arguments);
}

void image_main(void)
{
	arguments_defaults(&arguments);
	find_machine();
	start_console();
	read_arguments();
	console_pace(arguments.pace);
	report_begin(&arguments);
	check_entry_level();
	start_psci(); /* before the first end that powers off */
	check_arguments();
	start_watchdog();

	start_arena();
	report_survivors(&arguments);
	start_gic();
	wait_start(platform.timer_intid);
	(void)smp_start(report_absent_core);
	suspend_prepare();
	pmf_start();
	find_idle_states();
	report_machine(&arguments);

	plan();
	console_drain();
	engine_run(&report_timing_hooks);
	report_results(&arguments);
	finish(false);
}

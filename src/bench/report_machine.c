/*
 * Provenance: what the image is, how it was entered, and what the machine is.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#include "build_info.h"
#include "el1bench/arena.h"
#include "el1bench/cache.h"
#include "el1bench/cpu.h"
#include "el1bench/engine.h"
#include "el1bench/gic.h"
#include "el1bench/mmu.h"
#include "el1bench/platform.h"
#include "el1bench/psci.h"
#include "el1bench/report.h"
#include "el1bench/smp.h"
#include "el1bench/watchdog.h"
#include "el1bench/wire.h"
#include "number.h"
#include "report_state.h"

#define CACHE_LEVELS_MAX 14 /* seven levels, instruction and data apart */
#define CACHE_CALL_MS 1000

/* From the linker script. */
extern const uint8_t image_start[];
extern const uint8_t rodata_end[];
extern const uint8_t data_end[];

static void info(const char *key, const char *text)
{
	wire_line("info", "key=%s : %s", key, text);
}

static void info_number(const char *key, uint64_t number)
{
	wire_line("info", "key=%s : %" PRIu64, key, number);
}

void report_begin(const struct arguments *arguments)
{
	wire_line("begin",
		  "format=el1bench-log/1 version=" EL1BENCH_VERSION " build=" EL1BENCH_BUILD_ID
		  " board=" EL1BENCH_BOARD " boot=%" PRIu32 " seed=%" PRIu64,
		  arguments->boot, arguments->seed);
	info("compiler", EL1BENCH_COMPILER);
	info("flags", EL1BENCH_FLAGS);
	info("newlib", EL1BENCH_NEWLIB);
	info_number("image-bytes", (uint64_t)(data_end - image_start));
	info("model", platform.model);
	info("tree", tree_source_name(platform.tree_source));
	wire_line("info", "key=load-address : 0x%" PRIx64, boot_record.load_address);
	info_number("entry-el", boot_record.entry_el);
	info("entry-mmu", boot_record.entry_mmu_on != 0 ? "on" : "off");
	info_number("entry-stamp", boot_record.entry_stamp);
	info("arguments", arguments->text);
	if (arguments->emulated[0] != '\0') {
		info("emulated", arguments->emulated);
	}
	if (arguments->ignored[0] != '\0') {
		wire_line("ignored", " : %s", arguments->ignored);
	}
}

void report_image_crc(void)
{
	wire_line("info", "key=image-crc : 0x%08" PRIx32,
		  crc32(0, image_start, (size_t)(rodata_end - image_start)));
}

static void report_gic(void)
{
	if (gic == NULL) {
		info("gic", "none");
		return;
	}
	info_number("gic", gic->version);
	wire_line("info", "key=gic-id : 0x%08" PRIx32, gic_identification());
	info("broadcast", gic_broadcast_method());
}

static void report_psci(void)
{
	uint32_t version = psci_version();

	if (version == 0) {
		info("psci", "none");
	} else {
		wire_line("info", "key=psci : %" PRIu32 ".%" PRIu32, version >> 16,
			  version & 0xffff);
	}
	info("conduit", psci_conduit_name());
}

static void report_cpu(uint32_t cpu)
{
	wire_line("cpu",
		  "index=%" PRIu32 " mpidr=0x%" PRIx64 " midr=0x%" PRIx64 " cluster=%" PRIu32
		  " core=%" PRIu32 " counter-hz=%" PRIu64 " entry-el=%" PRIu32,
		  cpu, cpus[cpu].mpidr, cpus[cpu].midr, platform.cpus[cpu].cluster,
		  platform.cpus[cpu].core, cpus[cpu].counter_hz, cpus[cpu].entry_el);
}

static struct {
	struct cache_level levels[CACHE_LEVELS_MAX];
	size_t count;
} caches;

/* On the core that is described. */
static void describe_caches(void *unused)
{
	(void)unused;
	caches.count = cache_describe(caches.levels, CACHE_LEVELS_MAX);
}

static const char *cache_type_name(char type)
{
	switch (type) {
	case 'I':
		return "instruction";
	case 'D':
		return "data";
	default:
		return "unified";
	}
}

static void report_caches(uint32_t cpu)
{
	if (!smp_call(cpu, describe_caches, NULL, CACHE_CALL_MS)) {
		report_failure("caches", "core %" PRIu32 " did not describe its caches", cpu);
		return;
	}
	for (size_t i = 0; i < caches.count; i++) {
		const struct cache_level *level = &caches.levels[i];

		wire_line("cache",
			  "cpu=%" PRIu32 " level=%u type=%s bytes=%" PRIu32 " line=%u ways=%" PRIu32
			  " sets=%" PRIu32,
			  cpu, level->level, cache_type_name(level->type), level->bytes,
			  level->line_bytes, level->ways, level->sets);
	}
}

/* True if an online core before it is of the same kind, and so has the same caches. */
static bool kind_is_known(uint32_t position)
{
	for (uint32_t i = 0; i < position; i++) {
		if (cpus[smp_online_cpu(i)].midr == cpus[smp_online_cpu(position)].midr) {
			return true;
		}
	}
	return false;
}

static void report_idle_states(void)
{
	static const char *const kinds[IDLE_KINDS] = {"standby", "core", "deepest"};

	for (uint32_t kind = 0; kind < IDLE_KINDS; kind++) {
		const struct idle_state *state = &platform.idle_states.kinds[kind];
		const char *described = state->tree == platform.tree ? "used" : "board";
		struct number claims[IDLE_CLAIMS];

		if (!state->present) {
			continue;
		}
		for (uint32_t i = 0; i < IDLE_CLAIMS; i++) {
			claims[i] =
				number_or_none(state->claims[i] != UINT32_MAX, state->claims[i]);
		}
		wire_line("idle",
			  "kind=%s power-state=0x%" PRIx32 " timer-stops=%u tree=%s "
			  "entry-latency-us=%s exit-latency-us=%s wakeup-latency-us=%s "
			  "min-residency-us=%s : %s",
			  kinds[kind], state->power_state, state->timer_stops,
			  state->tree == NULL ? "-" : described, claims[IDLE_ENTRY].text,
			  claims[IDLE_EXIT].text, claims[IDLE_WAKEUP].text,
			  claims[IDLE_MIN_RESIDENCY].text, state->name);
	}
}

void report_machine(const struct arguments *arguments)
{
	uint32_t online = smp_online_count();

	info_number("counter-hz", cpus[0].counter_hz);
	info_number("counter-step", engine_counter_step());
	report_gic();
	report_psci();
	wire_line("info", "key=cores : %" PRIu32 "/%" PRIu32, online, platform.cpu_count);
	info_number("memory", arena_free_bytes());
	if (arguments->watchdog) {
		wire_line("info", "key=watchdog : waits %" PRIu32 " ms at most; 0: there is none",
			  watchdog_max_ms());
	}
	for (uint32_t position = 0; position < online; position++) {
		report_cpu(smp_online_cpu(position));
	}
	for (uint32_t position = 0; position < online; position++) {
		if (!kind_is_known(position)) {
			report_caches(smp_online_cpu(position));
		}
	}
	report_idle_states();
}

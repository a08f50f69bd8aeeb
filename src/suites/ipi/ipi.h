/*
 * What the IPI benchmarks share: the acknowledging handler, receivers that poll while they are
 * measured and idle otherwise, and one round: send, wait for the acknowledgements, read the clock.
 * All of it is timed code, core 0 unless said otherwise.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "el1bench/benchmark.h"
#include "el1bench/counter.h"
#include "el1bench/gic.h"

#define IPI_GROUP "ipi"
#define IPI_CONTROL "ipi.dry-run"

#define IPI_BATCHED_GROUP "ipi.batched"

/* Sends SGI `intid`; `cpu` is the target core's index. */
typedef void (*ipi_send)(uint32_t cpu, uint32_t intid);

struct ipi_stamps {
	uint64_t begin; /* sender, before the send */
	uint64_t first; /* earliest stamp of a receiver's vector stub */
	uint64_t last;  /* latest one */
	uint64_t end;   /* sender, after it has seen the last acknowledgement */
};

/* Skips the benchmark and returns false without an interrupt controller or with fewer cores. */
bool ipi_available(struct benchmark_run *run, uint32_t cores);

/* How a core acknowledges: its `handler_data` (cpu.h), in a cache line of its own. */
struct ipi_slot {
	volatile uint64_t acknowledged __attribute__((aligned(64))); /* interrupts, ever */
	uint64_t stamp; /* the vector stub's, of the last one; written before the count */
};

const struct ipi_slot *ipi_slot(uint32_t cpu);

/* The handler that acknowledges and nothing else: on the receiver, light. */
void ipi_acknowledge(uint32_t intid, uint32_t source, uint64_t stamp);

/* The count of a core's acknowledgements, that one round raises by one. */
const volatile uint64_t *ipi_acknowledgements(uint32_t cpu);

/*
 * Makes the cores at online positions [first, first + count) poll, lets all others go idle, and
 * installs the handler. Outside of any interval. False after benchmark_fail.
 */
bool ipi_receivers(struct benchmark_run *run, uint32_t first, uint32_t count, gic_handler handler);

/* All receivers idle, handler removed: every IPI benchmark's `finish`. */
void ipi_finish(struct benchmark_run *run);

/*
 * Reads the counter, sends, and returns the reading. The send's arguments are in their registers
 * before the clock starts: the asm needs them there.
 */
TIMED_INLINE uint64_t ipi_begin_and_send(ipi_send send, uint32_t cpu)
{
	register uint32_t target __asm__("w0") = cpu;
	register uint32_t intid __asm__("w1") = GIC_SGI_BENCH;
	uint64_t begin;

	__asm__ volatile("" : : "r"(target), "r"(intid));
	begin = counter_begin();
	send(target, intid);
	return begin;
}

/* The sample is taken, but what it waited for never came: excluded and failed. */
void ipi_lost(struct benchmark_run *run, uint32_t cpu);

/*
 * One round to one core: stamps, sends, waits until it has acknowledged `arrivals` more interrupts
 * than before (1; 0 for a send that sends nothing), stamps. False after benchmark_fail if that did
 * not come in time; the sample is then excluded from all of the run's rows.
 */
bool ipi_send_to_one(struct benchmark_run *run, ipi_send send, uint32_t cpu, uint32_t arrivals,
		     struct ipi_stamps *stamps);

/* One round to all other online cores, likewise. */
bool ipi_send_to_others(struct benchmark_run *run, struct ipi_stamps *stamps);

/*
 * The Arm Generic Interrupt Controller, GICv2 (IHI 0048) and GICv3 (IHI 0069), from EL1
 * non-secure. Only SGIs 0 to 7 are used: firmware keeps 8 to 15.
 */
#pragma once

#define GIC_SGI_COUNT 8
#define GIC_INTID_COUNT 32 /* SGIs and PPIs: all that the image takes */

/* The image's own SGIs. */
#define GIC_SGI_WORK 0  /* ends a sleep, as of a core that gets work: its handler does nothing */
#define GIC_SGI_BENCH 1 /* the interrupt that benchmarks measure */
#define GIC_SGI_CHECK 2 /* what the smoke suite counts; stops core 0 if another core panics */

/* Byte offsets in struct gic_stages and its size as a power of two, for assembly. */
#define GIC_STAGES_ENTRY 0
#define GIC_STAGES_ACKNOWLEDGED 8
#define GIC_STAGES_HANDLED 16
#define GIC_STAGES_ENDED 24
#define GIC_STAGES_SHIFT 6

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stdint.h>

#include "el1bench/cpu.h"
#include "el1bench/exception.h"

/*
 * Runs on the interrupted core between acknowledge and end of interrupt. `source` is the sending
 * core's GIC CPU interface number for an SGI on GICv2, else 0. `stamp` is the vector stub's, ticks.
 */
typedef void (*gic_handler)(uint32_t intid, uint32_t source, uint64_t stamp);

/* Where the registers are, mapped; found by the platform. */
struct gic_description {
	uint32_t version;             /* 2 or 3 */
	volatile void *distributor;   /* GICD */
	volatile void *cpu_interface; /* GICC, version 2 */
	struct {
		volatile void *base;
		uint64_t bytes;
	} redistributors[4]; /* GICR regions, version 3 */
	uint32_t redistributor_count;
};

/* What stands between earlier stores and the write that sends an SGI. */
enum gic_barrier {
	GIC_BARRIER_ISHST, /* dsb ishst: what every plain send has */
	GIC_BARRIER_SY,    /* dsb sy: waits for loads and devices, too */
	GIC_BARRIER_NONE,  /* nothing: the handler may miss what was stored */
	GIC_BARRIERS
};

/* The register writes that send one SGI to a set of cores. */
struct gic_list {
	uint32_t count;
	uint64_t values[CPU_MAX];
};

struct gic_operations {
	uint32_t version;
	irq_entry_function entry;        /* acknowledge, dispatch, end: for every interrupt */
	irq_entry_function staged_entry; /* the same, leaving its stages' stamps */
	/* Distributor, once, on core 0. False with a reason if the hardware is not as described. */
	bool (*start)(const struct gic_description *description, const char **reason);
	/* CPU interface and banked registers of the calling core; again after each power-up. */
	bool (*start_cpu)(uint32_t cpu, const char **reason);
	/*
	 * Sends SGI `intid` to one core that has called start_cpu; to itself too. Stores before the
	 * call are visible to the handler. Timed: no bounds checks, any core.
	 */
	void (*send)(uint32_t cpu, uint32_t intid);
	/* Sends SGI `intid` to all cores but the caller, as few register writes as possible. */
	void (*send_others)(uint32_t intid);
	/* As `send`, behind another barrier. */
	void (*send_behind[GIC_BARRIERS])(uint32_t cpu, uint32_t intid);
	/*
	 * Adds a core that has called start_cpu to a list, whose count is 0 before the first. All
	 * of a list's cores are sent the same SGI. Version 2 needs one write for all of them,
	 * version 3 one for each 16 that share their higher affinity levels.
	 */
	void (*add_to_list)(struct gic_list *list, uint32_t cpu, uint32_t intid);
	/* Sends to the cores of a list, otherwise like `send`. */
	void (*send_list)(const struct gic_list *list);
	/* Enables a PPI or SGI on the calling core; timed code may call it. */
	void (*enable)(uint32_t intid);
	/* True if any SGI or PPI `intid` is pending or active on the calling core. */
	bool (*pending)(uint32_t intid);
};

/* The controller in use; set by `gic_start`. */
extern const struct gic_operations *gic;

/* Picks the driver by version, starts the distributor and core 0. */
bool gic_start(const struct gic_description *description, const char **reason);

/*
 * Installs a handler for an SGI or PPI on all cores; NULL removes it. INTID below GIC_INTID_COUNT.
 * One that is marked INTERRUPT_HANDLER (timed.h) is called with fewer registers saved.
 */
void gic_set_handler(uint32_t intid, gic_handler handler);

/* When a core's latest interrupt got how far, ticks: left by the staged entry. */
struct gic_stages {
	uint64_t entry;        /* the vector stub's stamp */
	uint64_t acknowledged; /* the acknowledge has been completed */
	uint64_t handled;      /* the handler has returned, its memory accesses are complete */
	uint64_t ended;        /* the end of interrupt has been completed */
} __attribute__((aligned(1 << GIC_STAGES_SHIFT)));

extern struct gic_stages gic_stages[CPU_MAX];

/*
 * Says whether interrupts on all cores leave the stamps of their stages, from the next SGI that the
 * calling core sends. Core 0, outside of any interval; a driver must have been started.
 */
void gic_set_staged(bool staged);

/* GICD_IIDR: implementer, revision, variant and product; 0 before `gic_start`. Core 0. */
uint32_t gic_identification(void);

/*
 * How an SGI to all others is sent, for the provenance lines: "filter" (GICv2), "irm" (GICv3), or
 * "none" before `gic_start`.
 */
const char *gic_broadcast_method(void);

#endif

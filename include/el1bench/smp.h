/*
 * Other cores: bringing them up through PSCI CPU_ON, and handing them work. An idle core sits in
 * WFI with its interrupts masked, so that it costs nothing and misses no wake-up.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Runs on the core it was posted to, EL1, interrupts unmasked, no libc. */
typedef void (*smp_function)(void *argument);

/*
 * Starts all cores of `platform` but the caller's, each wait bounded; returns how many cores are
 * online, the caller included. `failed(index, text)` is called, on core 0, for each that is not.
 */
uint32_t smp_start(void (*failed)(uint32_t cpu, const char *reason));

/* Cores that are online, and their indices: positions 0 to count - 1, core 0 first. */
uint32_t smp_online_count(void);
uint32_t smp_online_cpu(uint32_t position);
bool smp_is_online(uint32_t cpu);

/* Hands work to an idle online core; false if it is busy or off. Core 0. Timed code may call it. */
bool smp_post(uint32_t cpu, smp_function function, void *argument);

/* True once the core has finished what it was given last. */
bool smp_idle(uint32_t cpu);

/* Waits until it has, at most `milliseconds`; false if it has not. */
bool smp_wait(uint32_t cpu, uint32_t milliseconds);

/* Post and wait; on core 0 itself it just calls. */
bool smp_call(uint32_t cpu, smp_function function, void *argument, uint32_t milliseconds);

/* How switching a core off or on went. */
enum smp_power_result {
	SMP_POWER_DONE,
	SMP_POWER_BUSY,    /* core 0, at work, or already there: nothing was tried */
	SMP_POWER_REFUSED, /* firmware returned `result`; the core is as it was */
	SMP_POWER_LOST,    /* no sign of success in a second: the core is out for good */
	SMP_POWER_LEAVING, /* on its way; no call returns this */
};

struct smp_power {
	uint64_t begin; /* ticks: the core right before CPU_OFF; the caller right before CPU_ON */
	uint64_t entry; /* CPU_ON: the core's first instruction */
	uint64_t end;   /* CPU_OFF: AFFINITY_INFO said OFF; CPU_ON: the core in C, EL1, MMU on */
	int64_t result; /* of CPU_OFF or CPU_ON, where it was refused */
	uint32_t cpu;   /* for smp_power_off_together: which core, and ... */
	enum smp_power_result done; /* ... how it went */
};

/*
 * Takes an idle core down through CPU_OFF, and back through CPU_ON: it takes work again then.
 * smp_is_online is false in between. Who takes a core down brings it back. Core 0, timed code.
 */
enum smp_power_result smp_power_off(uint32_t cpu, struct smp_power *power);

/* Takes down several, side by side, right after they have met; `done` says how each went. */
void smp_power_off_together(struct smp_power *powers, uint32_t count);

enum smp_power_result smp_power_on(uint32_t cpu, struct smp_power *power);

/* Brings a core back if it was taken down; false if it does not come. Core 0, timed code. */
bool smp_power_restore(uint32_t cpu);

/* The C half of a secondary core's start: called by the entry code with the MMU on. */
void smp_secondary_main(uint32_t index) __attribute__((noreturn));

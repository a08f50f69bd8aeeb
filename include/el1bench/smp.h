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

/* Cores that are online; their indices are given by `smp_cpu(0 .. count - 1)`, core 0 first. */
uint32_t smp_online_count(void);
uint32_t smp_online_cpu(uint32_t position);
bool smp_is_online(uint32_t cpu);

/* Hands work to an idle online core; false if it is still busy. Core 0. Timed code may call it. */
bool smp_post(uint32_t cpu, smp_function function, void *argument);

/* True once the core has finished what it was given last. */
bool smp_idle(uint32_t cpu);

/* Waits until it has, at most `milliseconds`; false if it has not. */
bool smp_wait(uint32_t cpu, uint32_t milliseconds);

/* Post and wait; on core 0 itself it just calls. */
bool smp_call(uint32_t cpu, smp_function function, void *argument, uint32_t milliseconds);

/* The C half of a secondary core's start: called by the entry code with the MMU on. */
void smp_secondary_main(uint32_t index) __attribute__((noreturn));

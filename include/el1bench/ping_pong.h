/*
 * Reading two cores' counters against each other: core 0 reads, asks, the other core reads and
 * answers, core 0 reads again. On one consistent counter the middle reading lies between the outer
 * two, and their distance bounds the skew. One partner at a time; timed code.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct ping_pong_reading {
	uint64_t before; /* core 0, ticks */
	uint64_t there;  /* the other core */
	uint64_t after;  /* core 0 */
};

/* Puts an idle online core other than 0 to answering; false if it did not start in time. */
bool ping_pong_start(uint32_t cpu);

/* One exchange with that core; false if the answer did not come in time. */
bool ping_pong_read(struct ping_pong_reading *reading);

/* Lets the core go idle again; false if it did not in time. Fine to call without a partner. */
bool ping_pong_stop(void);

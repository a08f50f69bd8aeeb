/*
 * Who records resource operations: nobody, the model in the kernel, or the tracker process at EL0,
 * to which each is a message. Timed code, core 0.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "el1bench/cpu.h"
#include "el1bench/model.h"
#include "el1bench/timed.h"

enum tracking { TRACKING_NONE, TRACKING_MODEL, TRACKING_SERVER };

/* As model_request(). */
typedef uint64_t (*tracking_request)(uint64_t operation, uint64_t a, uint64_t b, uint64_t c,
				     uint64_t d);

/* A model that somebody keeps; what is there before the first spawn. */
struct spawn_tracker {
	tracking_request request;
	uint64_t kernel; /* handles */
	uint64_t cpus[CPU_MAX];
	uint64_t refused; /* requests that were answered with 0 */
};

extern struct model spawn_model;
extern struct spawn_tracker tracker_model, tracker_server;

uint64_t tracking_request_model(uint64_t operation, uint64_t a, uint64_t b, uint64_t c, uint64_t d);
uint64_t tracking_request_server(uint64_t operation, uint64_t a, uint64_t b, uint64_t c,
				 uint64_t d);

/* Records the kernel, as process 0, and the online cores; false if that was refused. */
bool tracking_start(struct spawn_tracker *tracker, tracking_request request);

TIMED_INLINE struct spawn_tracker *tracker_of(enum tracking tracking)
{
	return tracking == TRACKING_MODEL ? &tracker_model : &tracker_server;
}

TIMED_INLINE uint64_t track(enum tracking tracking, uint64_t operation, uint64_t a, uint64_t b,
			    uint64_t c, uint64_t d)
{
	uint64_t answer = tracking == TRACKING_MODEL
				  ? tracking_request_model(operation, a, b, c, d)
				  : tracking_request_server(operation, a, b, c, d);

	if (answer == 0) {
		tracker_of(tracking)->refused++;
	}
	return answer;
}

/* A resource that the kernel grants. */
TIMED_INLINE uint64_t track_create(enum tracking tracking, enum model_kind kind, uint64_t number,
				   uint64_t holder)
{
	return track(tracking, MODEL_CREATE, kind, number, holder, tracker_of(tracking)->kernel);
}

/* Memory, mapped. */
TIMED_INLINE void track_memory(enum tracking tracking, uint64_t holder, uint64_t space,
			       uint64_t *memory, uint64_t number)
{
	*memory = track_create(tracking, MODEL_MEMORY, number, holder);
	(void)track(tracking, MODEL_RELATE, MODEL_MAPS, space, *memory, 0);
}

TIMED_INLINE void track_runs_on(enum tracking tracking, uint64_t thread, uint32_t cpu)
{
	(void)track(tracking, MODEL_RELATE, MODEL_RUNS_ON, thread, tracker_of(tracking)->cpus[cpu],
		    0);
}

TIMED_INLINE void track_release(enum tracking tracking, uint64_t handle)
{
	if (handle != 0) {
		(void)track(tracking, MODEL_RELEASE, handle, 0, 0, 0);
	}
}

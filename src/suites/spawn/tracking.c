/*
 * The model that the kernel keeps itself, and what every model starts with.
 */
#include "tracking.h"

#include "el1bench/smp.h"

struct model spawn_model;
struct spawn_tracker tracker_model;

TIMED uint64_t tracking_request_model(uint64_t operation, uint64_t a, uint64_t b, uint64_t c,
				      uint64_t d)
{
	return model_request(&spawn_model, operation, a, b, c, d);
}

UNTIMED bool tracking_start(struct spawn_tracker *tracker, tracking_request request)
{
	bool good;

	tracker->request = request;
	tracker->refused = 0;
	tracker->kernel = tracker->request(MODEL_CREATE, MODEL_PROCESS, 0, 0, 0);
	good = tracker->kernel != 0;
	for (uint32_t i = 0; i < smp_online_count(); i++) {
		uint32_t cpu = smp_online_cpu(i);

		tracker->cpus[cpu] = tracker->request(MODEL_CREATE, MODEL_CPU, cpu, 0, 0);
		good = good && tracker->cpus[cpu] != 0;
	}
	return good;
}

/*
 * Meetings of cores. The last one to arrive starts the next generation; the others wait for it.
 */
#include "el1bench/rendezvous.h"

#include "el1bench/poll.h"
#include "el1bench/timed.h"

TIMED void rendezvous_start(struct rendezvous *rendezvous, uint32_t cores)
{
	rendezvous->cores = cores;
	poll_publish(&rendezvous->arrived, 0);
}

TIMED bool rendezvous_meet(struct rendezvous *rendezvous)
{
	uint64_t next = poll_read(&rendezvous->generation) + 1;

	if (__atomic_add_fetch(&rendezvous->arrived, 1, __ATOMIC_ACQ_REL) == rendezvous->cores) {
		poll_publish(&rendezvous->arrived, 0);
		poll_publish(&rendezvous->generation, next);
		return true;
	}
	return poll_until(&rendezvous->generation, next);
}

/*
 * The handler that acknowledges an IPI and does nothing else. It runs inside of every measured
 * interval, so it is a light one.
 */
#include "el1bench/cpu.h"
#include "el1bench/poll.h"
#include "ipi.h"

INTERRUPT_HANDLER void ipi_acknowledge(uint32_t intid, uint32_t source, uint64_t stamp)
{
	struct ipi_slot *slot = cpu_current()->handler_data;

	(void)intid;
	(void)source;
	slot->stamp = stamp;
	poll_publish(&slot->acknowledged, slot->acknowledged + 1);
}

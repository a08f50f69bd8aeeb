/*
 * Whether there is a cycle counter, and whether it counts: an emulator or a hypervisor may describe
 * one that stands still.
 */
#include "el1bench/cycles.h"

#include "el1bench/timed.h"

#define PMUVER_SHIFT 8
#define PMUVER_NONE 0U
#define PMUVER_OTHER 15U /* not by the architecture */
#define TRIAL_TURNS 1000U

TIMED bool cycles_usable(void)
{
	uint64_t version = SYSREG_READ(id_aa64dfr0_el1) >> PMUVER_SHIFT & 15;
	uint64_t begin;

	if (version == PMUVER_NONE || version == PMUVER_OTHER) {
		return false;
	}
	cycles_enable();
	begin = cycles_read();
	for (uint32_t turns = TRIAL_TURNS; turns != 0; turns--) {
		__asm__ volatile("" : : : "memory");
	}
	return cycles_read() - begin >= TRIAL_TURNS / 2;
}

/*
 * Stands in for include/el1bench/barrier.h in host tests. Each barrier is reported by name to the
 * test, so that it can check the order of barriers and device accesses.
 */
#pragma once

void fake_barrier(const char *name);

#define FAKE_BARRIER(name)                                                                         \
	static inline void name(void)                                                              \
	{                                                                                          \
		__atomic_thread_fence(__ATOMIC_SEQ_CST);                                           \
		fake_barrier(#name);                                                               \
	}

FAKE_BARRIER(isb)
FAKE_BARRIER(dsb_sy)
FAKE_BARRIER(dsb_ish)
FAKE_BARRIER(dsb_ishst)
FAKE_BARRIER(dmb_ish)
FAKE_BARRIER(dmb_ishst)
FAKE_BARRIER(dmb_ishld)
FAKE_BARRIER(cpu_yield)
FAKE_BARRIER(wfi)
FAKE_BARRIER(irq_mask)
FAKE_BARRIER(irq_unmask)

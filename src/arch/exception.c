/*
 * What happens with exceptions that are not interrupts (el1bench/exception.h): those of
 * instructions that may fault are put right, all others end the run.
 */
#include "el1bench/exception.h"

#include "el1bench/cpu.h"
#include "el1bench/panic.h"
#include "el1bench/timed.h"
#include "exception_frame.h"
#include "exception_entry.h"
#include "stacks.h"

#define VECTOR_SYNCHRONOUS 4
#define VECTOR_SERROR 7

/* ESR_EL1.EC */
#define EC_SHIFT 26
#define EC_UNKNOWN 0x00U
#define EC_DATA_ABORT_SAME_EL 0x25U

_Static_assert(offsetof(struct exception_frame, x) == FRAME_X, "exception_frame.h");
_Static_assert(offsetof(struct exception_frame, sp) == FRAME_SP, "exception_frame.h");
_Static_assert(offsetof(struct exception_frame, elr) == FRAME_ELR, "exception_frame.h");
_Static_assert(offsetof(struct exception_frame, spsr) == FRAME_SPSR, "exception_frame.h");
_Static_assert(offsetof(struct exception_frame, esr) == FRAME_ESR, "exception_frame.h");
_Static_assert(offsetof(struct exception_frame, far) == FRAME_FAR, "exception_frame.h");
_Static_assert(offsetof(struct exception_frame, vector) == FRAME_VECTOR, "exception_frame.h");
_Static_assert(sizeof(struct exception_frame) <= FRAME_BYTES && FRAME_BYTES % 16 == 0,
	       "exception_frame.h");

static void irq_without_entry(void)
{
	panic("an interrupt arrived before there was a handler");
}

/* In .data, since the vector stub reaches it by a PC-relative load with a range of 1 MiB. */
irq_entry_function exception_irq_entry __attribute__((section(".data"))) = irq_without_entry;

TIMED void exception_set_irq_entry(irq_entry_function entry)
{
	exception_irq_entry = entry;
}

/* If the exception is one that was reckoned with, continues behind it. */
static bool fixed_up(struct exception_frame *frame)
{
	uint64_t pc = frame->elr;
	uint64_t class = frame->esr >> EC_SHIFT & 0x3f;

	if (pc >= (uint64_t)probe_copy && pc < (uint64_t)probe_copy_end &&
	    (frame->vector == VECTOR_SERROR ||
	     (frame->vector == VECTOR_SYNCHRONOUS && class == EC_DATA_ABORT_SAME_EL))) {
		frame->elr = (uint64_t)probe_copy_failed;
		return true;
	}
	if (frame->vector != VECTOR_SYNCHRONOUS || class != EC_UNKNOWN) {
		return false;
	}
	if (pc == (uint64_t)probe_semihosting_hlt) {
		frame->elr = (uint64_t)probe_semihosting_failed;
		return true;
	}
	if (pc == (uint64_t)smccc_smc_call || pc == (uint64_t)smccc_hvc_call) {
		frame->x[0] = UINT64_MAX; /* NOT_SUPPORTED */
		frame->elr += 4;
		return true;
	}
	return false;
}

void exception_dispatch(struct exception_frame *frame)
{
	static uint32_t panicking;

	if (fixed_up(frame)) {
		return;
	}
	/*
	 * A report needs more stack than the emergency stack has, and the interrupted one may be
	 * used up: the first core here gets the stack that is kept for this. For any other, and for
	 * an exception while reporting, panic_exception() stops at once.
	 */
	if (__atomic_exchange_n(&panicking, 1, __ATOMIC_RELAXED) == 0) {
		exception_on_stack(frame, stacks[STACK_BLOCK_PANIC].stack + CPU_STACK_BYTES);
	}
	panic_exception(frame);
}

bool exception_probe_copy(void *destination, const void *source, size_t bytes)
{
	return probe_copy(destination, source, bytes) != 0;
}

bool exception_probe_semihosting(uint64_t operation, uint64_t parameter, uint64_t *result)
{
	return probe_semihosting(operation, parameter, result) != 0;
}

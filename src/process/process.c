/*
 * Making, running and ending processes. Slots and threads are static and reused.
 */
#include "el1bench/process.h"

#include <stddef.h>

#include "el1bench/barrier.h"
#include "el1bench/counter.h"
#include "el1bench/cpu.h"
#include "el1bench/gic.h"
#include "el1bench/platform.h"
#include "el1bench/sysreg.h"
#include "el1bench/system_calls.h"
#include "el1bench/timed.h"

#define EVENTS_MAX (1U << 20) /* system calls and interrupts in one run of a process */

#define TCR_EPD0 (UINT64_C(1) << 7)
#define CNTKCTL_EL0PCTEN UINT64_C(1)
#define ID_AA64DFR0_PMUVER_SHIFT 8U
#define CPACR_FPEN_EL1 (UINT64_C(1) << 20) /* floating point at EL1 only */

/* ESR_EL1.EC */
#define EC_SHIFT 26U
#define EC_SVC 0x15U
#define EC_INSTRUCTION_ABORT 0x20U
#define EC_DATA_ABORT 0x24U

_Static_assert(offsetof(struct el0_context, sp) == EL0_CONTEXT_SP, "el0.h");
_Static_assert(offsetof(struct el0_context, pc) == EL0_CONTEXT_PC, "el0.h");
_Static_assert(offsetof(struct el0_context, pstate) == EL0_CONTEXT_PSTATE, "el0.h");
_Static_assert(offsetof(struct el0_context, tls) == EL0_CONTEXT_TLS, "el0.h");

static struct process processes[PROCESS_MAX];
static struct thread threads[PROCESS_MAX];
static struct process *free_processes[PROCESS_MAX];
static struct thread *free_threads[PROCESS_MAX];
static uint32_t free_process_count;
static uint32_t free_thread_count;
static volatile bool time_is_up[CPU_MAX];

bool process_start(void)
{
	if (!address_space_start()) {
		return false;
	}
	for (uint32_t i = 0; i < PROCESS_MAX; i++) {
		processes[i].number = i + 1;
		free_processes[PROCESS_MAX - 1 - i] = &processes[i];
		free_threads[PROCESS_MAX - 1 - i] = &threads[i];
	}
	free_process_count = PROCESS_MAX;
	free_thread_count = PROCESS_MAX;
	return true;
}

TIMED struct process *process_take(void)
{
	struct process *process;

	if (free_process_count == 0) {
		return NULL;
	}
	process = free_processes[--free_process_count];
	process->used = true;
	process->space.ttbr = 0;
	process->thread = NULL;
	return process;
}

/* One page of a segment, `done` bytes into it. */
TIMED static bool load_page(struct process *process, const struct elf_segment *segment,
			    uint64_t done)
{
	void *page = address_space_map(&process->space, segment->address + done, segment->flags);
	uint64_t rest = done < segment->content_bytes ? segment->content_bytes - done : 0;

	if (page == NULL) {
		return false;
	}
	if (rest < PAGE_BYTES) {
		page_clear(page);
	}
	page_copy(page, segment->content + done, rest < PAGE_BYTES ? rest : PAGE_BYTES);
	if ((segment->flags & ELF_EXECUTE) != 0) {
		page_sync_code(page);
	}
	return true;
}

TIMED const char *process_load(struct process *process, const void *file, uint64_t bytes)
{
	const char *problem = elf_read(file, bytes, &process->program);

	if (problem != NULL) {
		return problem;
	}
	for (uint32_t i = 0; i < process->program.segment_count; i++) {
		const struct elf_segment *segment = &process->program.segments[i];

		for (uint64_t done = 0; done < segment->bytes; done += PAGE_BYTES) {
			if (!load_page(process, segment, done)) {
				return "there are not enough pages for the program";
			}
		}
	}
	return NULL;
}

TIMED bool process_stack(struct process *process, const uint64_t *arguments, uint32_t count)
{
	uint8_t *page = address_space_map(&process->space, PROCESS_STACK_TOP - PAGE_BYTES,
					  ELF_READ | ELF_WRITE);
	volatile uint64_t *top;

	if (page == NULL) {
		return false;
	}
	page_clear(page);
	top = (uint64_t *)(void *)(page + PAGE_BYTES) - PROCESS_ARGUMENTS_MAX;
	for (uint32_t i = 0; i < count; i++) {
		top[i] = arguments[i];
	}
	return true;
}

TIMED bool process_thread(struct process *process, uint32_t cpu)
{
	const uint64_t sp = PROCESS_STACK_TOP - PROCESS_ARGUMENTS_MAX * sizeof(uint64_t);
	struct thread *thread;

	if (free_thread_count == 0) {
		return false;
	}
	thread = free_threads[--free_thread_count];
	for (uint32_t i = 0; i < 31; i++) {
		*(volatile uint64_t *)&thread->context.x[i] = 0;
	}
	thread->context.x[0] = PROCESS_ARGUMENTS_MAX;
	thread->context.x[1] = sp;
	thread->context.sp = sp;
	thread->context.pc = process->program.entry;
	thread->context.pstate = 0;
	thread->context.tls = 0;
	thread->process = process;
	thread->cpu = cpu;
	process->thread = thread;
	return true;
}

TIMED static enum process_event kill(struct process *process, enum process_death death,
				     const char *because, uint64_t address, uint64_t esr)
{
	process->death = death;
	process->killed_because = because;
	process->killed_numbers[0] = process->thread->context.pc;
	process->killed_numbers[1] = address;
	process->killed_numbers[2] = esr;
	return PROCESS_KILLED;
}

TIMED static enum process_event kill_for_fault(struct process *process, uint64_t esr, uint64_t far)
{
	uint64_t class = esr >> EC_SHIFT;

	if (class == EC_INSTRUCTION_ABORT) {
		return kill(process, DEATH_INSTRUCTION_ABORT,
			    "process killed at 0x%lx: instruction abort, address 0x%lx, esr 0x%lx",
			    far, esr);
	}
	if (class == EC_DATA_ABORT) {
		return kill(process, DEATH_DATA_ABORT,
			    "process killed at 0x%lx: data abort, address 0x%lx, esr 0x%lx", far,
			    esr);
	}
	return kill(process, DEATH_EXCEPTION,
		    "process killed at 0x%lx: exception, far 0x%lx, esr 0x%lx", far, esr);
}

TIMED enum process_event process_run(struct process *process)
{
	struct el0_context *context = &process->thread->context;

	for (uint32_t events = 0; events < EVENTS_MAX; events++) {
		uint32_t cause;
		uint64_t esr;
		uint64_t far;

		irq_mask();
		/* From here on the timer's interrupt ends the stay at EL0. */
		if (time_is_up[cpu_index()]) {
			irq_unmask();
			return kill(process, DEATH_TIME,
				    "process killed at 0x%lx: it did not exit in time", 0, 0);
		}
		cause = el0_run(context);
		esr = SYSREG_READ(esr_el1);
		far = SYSREG_READ(far_el1);
		irq_unmask();
		if (cause == EL0_INTERRUPT) {
			isb(); /* the interrupt is taken here */
			continue;
		}
		if (esr >> EC_SHIFT != EC_SVC) {
			return kill_for_fault(process, esr, far);
		}
		switch (context->x[8]) {
		case SYSTEM_CALL_NOTHING:
			break;
		case SYSTEM_CALL_STARTED:
			process->first_stamp = context->x[0];
			return PROCESS_STARTED;
		case SYSTEM_CALL_EXIT:
			process->result = context->x[0];
			process->exit_stamp = context->x[1];
			return PROCESS_EXITED;
		case SYSTEM_CALL_RECEIVE:
			return PROCESS_RECEIVES;
		default:
			return kill(process, DEATH_SYSTEM_CALL,
				    "process killed at 0x%lx: unknown system call %lu",
				    context->x[8], 0);
		}
	}
	return kill(process, DEATH_SYSTEM_CALL, "process killed at 0x%lx: too many system calls", 0,
		    0);
}

TIMED void process_destroy(struct process *process)
{
	struct thread *thread = process->thread;

	if (thread != NULL) {
		thread->process = NULL;
		free_threads[free_thread_count++] = thread;
	}
	if (process->space.ttbr != 0) {
		address_space_destroy(&process->space);
	}
	process->used = false;
	free_processes[free_process_count++] = process;
}

TIMED uint32_t process_free_slots(void)
{
	return free_process_count;
}

TIMED uint32_t process_free_threads(void)
{
	return free_thread_count;
}

TIMED static void timer_interrupt(uint32_t intid, uint32_t source, uint64_t stamp)
{
	(void)intid;
	(void)source;
	(void)stamp;
	SYSREG_WRITE(cntp_ctl_el0, 0);
	isb();
	time_is_up[cpu_index()] = true;
}

/* A core that has been off is as it was at its first start: nothing of this is there any more. */
TIMED static void set_up_core(void)
{
	uint64_t pmu;

	address_space_switch(NULL);
	SYSREG_WRITE(tcr_el1, SYSREG_READ(tcr_el1) & ~TCR_EPD0);
	SYSREG_WRITE(cntkctl_el1, SYSREG_READ(cntkctl_el1) | CNTKCTL_EL0PCTEN);
	SYSREG_WRITE(cpacr_el1, CPACR_FPEN_EL1);
	pmu = SYSREG_READ(id_aa64dfr0_el1) >> ID_AA64DFR0_PMUVER_SHIFT & 0xf;
	if (pmu != 0 && pmu != 0xf) {
		SYSREG_WRITE(pmuserenr_el0, 0); /* the counters are the kernel's */
	}
	isb();
	gic->enable(platform.timer_intid);
}

TIMED void process_watch(uint32_t milliseconds)
{
	if ((SYSREG_READ(tcr_el1) & TCR_EPD0) != 0) {
		set_up_core();
	}
	time_is_up[cpu_index()] = false;
	gic_set_handler(platform.timer_intid, timer_interrupt);
	SYSREG_WRITE(cntp_cval_el0, counter_begin() + counter_hz() / 1000 * milliseconds);
	SYSREG_WRITE(cntp_ctl_el0, 1);
	isb();
}

TIMED void process_unwatch(void)
{
	SYSREG_WRITE(cntp_ctl_el0, 0);
	isb();
}

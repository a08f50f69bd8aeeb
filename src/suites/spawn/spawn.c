/*
 * The machinery of the spawn benchmarks.
 */
#include "spawn.h"

#include "el1bench/barrier.h"
#include "el1bench/exception.h"
#include "el1bench/gic.h"
#include "el1bench/image.h"
#include "el1bench/platform.h"
#include "el1bench/smp.h"

#define PAGES 1800U /* 64 processes of 8 pages, and one image of 4 MiB with its tables */

const void *spawn_program;
uint64_t spawn_program_bytes;
void *spawn_page;

#define SAMPLE_US 2000 /* beyond the usual; emulators translate the program anew each time */
#define LONG_SAMPLES 20
#define LONG_SAMPLE_US 100000
#define INITRD_BYTES_MAX (UINT64_C(16) << 20)

static struct page_chain own_pages;

/* The file at initrd, every page of it readable; NULL if it cannot be used, with the reason. */
static const void *program_at_initrd(const char **problem)
{
	const struct memory_range *initrd = &platform.initrd;
	const uint8_t *file;
	uint8_t byte;

	if (initrd->bytes > INITRD_BYTES_MAX) {
		*problem = "the program at initrd is too large";
		return NULL;
	}
	file = mmu_map(initrd->start, initrd->bytes, MMU_MEMORY_READ_ONLY);
	*problem = "the program at initrd cannot be read";
	if (file == NULL || (uintptr_t)file % 8 != 0) {
		return NULL;
	}
	for (uint64_t at = 0; at < initrd->bytes;
	     at += PAGE_BYTES - (uintptr_t)(file + at) % PAGE_BYTES) {
		if (!exception_probe_copy(&byte, file + at, 1)) {
			return NULL;
		}
	}
	return file;
}

static const char *find_program(void)
{
	const char *problem = NULL;

	spawn_program = hello_program;
	spawn_program_bytes = (uint64_t)(hello_program_end - hello_program);
	if (platform.initrd.bytes != 0) {
		spawn_program = program_at_initrd(&problem);
		spawn_program_bytes = platform.initrd.bytes;
	}
	return spawn_program == NULL ? problem : NULL;
}

/* What stands in the way of any process; NULL: nothing. */
static const char *start_processes(void)
{
	void *memory = benchmark_memory(PAGES_MEMORY_BYTES(PAGES));

	if (memory == NULL) {
		return "there is not enough memory for processes";
	}
	pages_start(memory, PAGES);
	spawn_page = page_take(&own_pages);
	model_start(&spawn_model);
	if (!process_start() || !tracking_start(&tracker_model, tracking_request_model)) {
		return "there is not enough memory for processes";
	}
	return find_program();
}

UNTIMED bool spawn_available(struct benchmark_run *run)
{
	static bool started;
	static const char *problem;

	if (gic == NULL || platform.timer_intid == 0 || platform.timer_intid >= GIC_INTID_COUNT) {
		return benchmark_skip(
			run, "there is no timer interrupt to stop a process that does not exit", 0,
			0, 0);
	}
	if (!started) {
		started = true;
		problem = start_processes();
		if (problem == NULL && platform.initrd.bytes != 0) {
			benchmark_note(run, "the program is the one at initrd, %lu bytes",
				       spawn_program_bytes, 0, 0);
		}
	}
	if (problem == NULL) {
		return true;
	}
	return platform.initrd.bytes != 0 ? benchmark_fail(run, problem, 0, 0, 0)
					  : benchmark_skip(run, problem, 0, 0, 0);
}

TIMED void spawn_count(struct spawn_counts *counts, struct spawn_tracker *tracker)
{
	counts->pages = pages_free();
	counts->asids = address_space_asids_free();
	counts->slots = process_free_slots();
	counts->threads = process_free_threads();
	counts->model = tracker == NULL ? 0 : tracker->request(MODEL_COUNT, 0, 0, 0, 0);
}

TIMED bool spawn_check_counts(struct benchmark_run *run, const struct spawn_counts *before,
			      struct spawn_tracker *tracker, uint64_t spawned)
{
	struct spawn_counts after;

	spawn_count(&after, tracker);
	benchmark_note(run, "%lu spawned; pages free %lu before, %lu after", spawned, before->pages,
		       after.pages);
	benchmark_note(run, "ASIDs free %lu before, %lu after", before->asids, after.asids, 0);
	if (tracker != NULL) {
		benchmark_note(run, "model nodes %lu before, %lu after; %lu requests refused",
			       before->model >> 32, after.model >> 32, tracker->refused);
		benchmark_note(run, "model edges %lu before, %lu after", before->model & UINT32_MAX,
			       after.model & UINT32_MAX, 0);
	}
	if (after.pages != before->pages || after.asids != before->asids ||
	    after.slots != before->slots || after.threads != before->threads ||
	    after.model != before->model || (tracker != NULL && tracker->refused != 0)) {
		return benchmark_fail(run, "not everything came back: see the notes", 0, 0, 0);
	}
	return true;
}

TIMED bool spawn_failed(struct benchmark_run *run, const struct spawn *spawn)
{
	const struct process *process = spawn->process;

	if (spawn->problem != NULL) {
		return benchmark_fail(run, spawn->problem, 0, 0, 0);
	}
	if (process != NULL && spawn->event == PROCESS_KILLED) {
		return benchmark_fail(run, process->killed_because, process->killed_numbers[0],
				      process->killed_numbers[1], process->killed_numbers[2]);
	}
	return benchmark_fail(run, "the process did not start and exit as it should", 0, 0, 0);
}

TIMED bool spawn_start(struct spawn *spawn)
{
	address_space_switch(&spawn->process->space);
	spawn->stamps[SPAWN_SWITCH] = counter_end();
	spawn->event = process_run(spawn->process);
	return spawn->event == PROCESS_STARTED;
}

TIMED bool spawn_finish(struct spawn *spawn)
{
	spawn->event = process_run(spawn->process);
	spawn->ended = counter_end();
	return spawn->event == PROCESS_EXITED;
}

TIMED void spawn_destroy(struct spawn *spawn)
{
	process_destroy(spawn->process);
}

TIMED void spawn_unmake(const struct spawn_method *method, struct spawn *spawn)
{
	if (spawn->process == NULL) {
		return;
	}
	address_space_switch(NULL);
	method->unmake(spawn);
	spawn->torn_down = counter_end_memory();
	spawn->process = NULL;
}

/* On another core: the life of a process that core 0 has made. */
TIMED static void run_there(void *argument)
{
	struct spawn *spawn = argument;

	process_watch(SPAWN_LIMIT_MS);
	(void)(spawn_start(spawn) && spawn_finish(spawn));
	address_space_switch(NULL);
	process_unwatch();
}

TIMED static void record(const struct spawn_case *mine, const struct spawn *spawn, uint64_t first,
			 uint64_t exit)
{
	struct sample_row *const *rows = mine->rows;
	const uint64_t *stamps = spawn->stamps;

	sample_record(rows[ROW_TOTAL], (int64_t)(first - stamps[SPAWN_BEGIN]));
	if (!mine->method->stamped) {
		return;
	}
	for (uint32_t step = SPAWN_ADDRESS_SPACE; step < SPAWN_STEPS; step++) {
		sample_record(rows[ROW_ADDRESS_SPACE + step - SPAWN_ADDRESS_SPACE],
			      (int64_t)(stamps[step] - stamps[step - 1]));
	}
	sample_record(rows[ROW_FIRST_INSTRUCTION], (int64_t)(first - stamps[SPAWN_SWITCH]));
	sample_record(rows[ROW_EXIT], (int64_t)(spawn->ended - exit));
	sample_record(rows[ROW_TEARDOWN], (int64_t)(spawn->torn_down - spawn->ended));
}

TIMED void spawn_set_up(struct spawn *spawn, enum program_task task, uint64_t argument)
{
	spawn->file = hello_program;
	spawn->file_bytes = (uint64_t)(hello_program_end - hello_program);
	spawn->arguments[0] = task;
	spawn->arguments[1] = argument;
	spawn->cpu = 0;
}

TIMED static void set_up(struct spawn *spawn, uint32_t cpu)
{
	spawn_set_up(spawn, TASK_NONE, 0);
	spawn->file = spawn_program;
	spawn->file_bytes = spawn_program_bytes;
	spawn->cpu = cpu;
}

TIMED static bool sample_here(struct benchmark_run *run, struct spawn_case *mine)
{
	const struct spawn_method *method = mine->method;
	struct spawn spawn;
	bool good;
	uint64_t first = 0;
	uint64_t exit = 0;

	set_up(&spawn, 0);
	process_watch(SPAWN_LIMIT_MS);
	good = method->make(&spawn) && spawn_start(&spawn) && spawn_finish(&spawn);
	if (good) {
		first = spawn.process->first_stamp;
		exit = spawn.process->exit_stamp;
	} else {
		(void)spawn_failed(run, &spawn);
	}
	spawn_unmake(method, &spawn);
	process_unwatch();
	if (good) {
		record(mine, &spawn, first, exit);
	}
	return good;
}

TIMED static bool sample_there(struct benchmark_run *run, struct spawn_case *mine)
{
	const struct spawn_method *method = mine->method;
	static struct spawn spawn; /* the other core might outlive a time-out */
	uint32_t cpu = smp_online_cpu(1);
	bool good;

	set_up(&spawn, cpu);
	process_watch(3 * SPAWN_LIMIT_MS); /* a tracker may be at work for it on this core */
	good = method->make(&spawn);
	if (good) {
		if (!smp_post(cpu, run_there, &spawn) || !smp_wait(cpu, 2 * SPAWN_LIMIT_MS)) {
			return benchmark_fail(run, "core %lu did not run the process", cpu, 0, 0);
		}
		good = spawn.event == PROCESS_EXITED;
	}
	if (good) {
		sample_record(mine->rows[ROW_TOTAL_REMOTE],
			      (int64_t)(spawn.process->first_stamp - spawn.stamps[SPAWN_BEGIN]));
	} else {
		(void)spawn_failed(run, &spawn);
	}
	spawn_unmake(method, &spawn);
	process_unwatch();
	return good;
}

uint32_t spawn_samples(uint32_t asked, uint32_t few)
{
	return image_arguments()->samples_given || asked < few ? asked : few;
}

uint32_t spawn_long_sample_count(uint32_t asked)
{
	return spawn_samples(asked, LONG_SAMPLES);
}

uint32_t spawn_long_sample_us(uint32_t online)
{
	(void)online;
	return LONG_SAMPLE_US;
}

uint32_t spawn_case_sample_count(uint32_t asked)
{
	return spawn_samples(asked, SPAWN_SAMPLES);
}

uint32_t spawn_case_sample_us(uint32_t online)
{
	(void)online;
	return SAMPLE_US;
}

uint32_t spawn_case_row_count(uint32_t online)
{
	(void)online;
	return SPAWN_ROWS;
}

UNTIMED bool spawn_case_prepare(struct benchmark_run *run)
{
	static const char *const metrics[SPAWN_ROWS] = {
		[ROW_TOTAL] = "total",
		[ROW_ADDRESS_SPACE] = "address-space",
		[ROW_IMAGE_LOAD] = "image-load",
		[ROW_STACK_ARGUMENTS] = "stack-arguments",
		[ROW_THREAD] = "thread",
		[ROW_FIRST_SWITCH] = "first-switch",
		[ROW_FIRST_INSTRUCTION] = "first-instruction",
		[ROW_EXIT] = "exit",
		[ROW_TEARDOWN] = "teardown",
		[ROW_TOTAL_REMOTE] = "total",
	};
	struct spawn_case *mine = run->benchmark->data;
	uint32_t rows = mine->method->stamped ? SPAWN_ROWS : 1;

	if (!spawn_available(run)) {
		return false;
	}
	if (smp_online_count() < 2 && rows == SPAWN_ROWS) {
		rows = ROW_TOTAL_REMOTE;
	}
	for (uint32_t i = 0; i < rows; i++) {
		int32_t peer = i == ROW_TOTAL_REMOTE ? (int32_t)smp_online_cpu(1) : SAMPLE_NO_CPU;

		mine->rows[i] = benchmark_row(run, metrics[i], 0, peer, NULL);
		if (mine->rows[i] == NULL) {
			return false;
		}
	}
	return true;
}

TIMED bool spawn_case_sample(struct benchmark_run *run)
{
	struct spawn_case *mine = run->benchmark->data;

	if (mine->spawned == 0) {
		spawn_count(&mine->before, mine->method->tracker);
	}
	mine->spawned++;
	if (!sample_here(run, mine)) {
		return false;
	}
	if (mine->rows[ROW_TOTAL_REMOTE] == NULL) {
		return true;
	}
	mine->spawned++;
	return sample_there(run, mine);
}

TIMED void spawn_case_finish(struct benchmark_run *run)
{
	const struct spawn_case *mine = run->benchmark->data;

	(void)spawn_check_counts(run, &mine->before, mine->method->tracker, mine->spawned);
}

/*
 * spawn.image-size: a process whose image has so many bytes of data, untracked, on core 0. The
 * programs are made before timing: the embedded one's code and a data segment, filled in the file.
 *
 * Metrics `total` and `image-load`, factor `bytes`: as in spawn.process.untracked.
 */
#include <string.h>

#include "spawn.h"

#define CODE_AT 256U /* in the file */
#define DATA_AT 8192U
#define DATA_ADDRESS UINT64_C(0x800000)
#define DATA_BYTES_MAX (4U << 20)

static const struct {
	uint64_t bytes;
	const char *factors;
} cases[] = {
	{4U << 10, "bytes=4096"},    {16U << 10, "bytes=16384"},
	{64U << 10, "bytes=65536"},  {256U << 10, "bytes=262144"},
	{1U << 20, "bytes=1048576"}, {DATA_BYTES_MAX, "bytes=4194304"},
};

#define CASES (sizeof(cases) / sizeof(cases[0]))

enum { TOTAL, IMAGE_LOAD, METRICS };

static struct sample_row *rows[CASES][METRICS];

static struct {
	struct elf_header header;
	struct elf_program_header segments[2];
} * file;

static uint32_t row_count(uint32_t online)
{
	(void)online;
	return CASES * METRICS;
}

/* The file, but for the size of its data. */
static bool make_file(void)
{
	struct elf_program program;
	const struct elf_segment *code = &program.segments[0];

	file = benchmark_memory(DATA_AT + DATA_BYTES_MAX);
	if (file == NULL ||
	    elf_read(hello_program, (uint64_t)(hello_program_end - hello_program), &program) !=
		    NULL ||
	    program.segment_count != 1 || code->content_bytes > DATA_AT - CODE_AT) {
		return false;
	}
	memcpy(&file->header, hello_program, sizeof(file->header));
	file->header.program_headers = sizeof(file->header);
	file->header.program_header_count = 2;
	file->segments[0] = (struct elf_program_header){
		.type = ELF_SEGMENT_LOAD,
		.flags = code->flags,
		.offset = CODE_AT,
		.address = code->address,
		.file_bytes = code->content_bytes,
		.memory_bytes = code->bytes,
	};
	memcpy((uint8_t *)file + CODE_AT, code->content, code->content_bytes);
	file->segments[1] = (struct elf_program_header){
		.type = ELF_SEGMENT_LOAD,
		.flags = ELF_READ | ELF_WRITE,
		.offset = DATA_AT,
		.address = DATA_ADDRESS,
	};
	return true;
}

UNTIMED static bool prepare(struct benchmark_run *run)
{
	if (!spawn_available(run)) {
		return false;
	}
	if (!make_file()) {
		return benchmark_skip(run, "there is not enough memory for a program of %lu bytes",
				      DATA_BYTES_MAX, 0, 0);
	}
	for (uint32_t i = 0; i < CASES; i++) {
		rows[i][TOTAL] = benchmark_row(run, "total", 0, SAMPLE_NO_CPU, cases[i].factors);
		rows[i][IMAGE_LOAD] =
			benchmark_row(run, "image-load", 0, SAMPLE_NO_CPU, cases[i].factors);
	}
	return run->reason == NULL;
}

TIMED static bool sample(struct benchmark_run *run)
{
	static struct spawn spawn;

	for (uint32_t i = 0; i < CASES; i++) {
		const uint64_t *stamps = spawn.stamps;
		bool good;

		spawn_set_up(&spawn, TASK_NONE, 0);
		file->segments[1].file_bytes = cases[i].bytes;
		file->segments[1].memory_bytes = cases[i].bytes;
		spawn.file = file;
		spawn.file_bytes = DATA_AT + cases[i].bytes;
		process_watch(SPAWN_LIMIT_MS);
		good = spawn_untracked.make(&spawn) && spawn_start(&spawn);
		if (good) {
			sample_record(rows[i][TOTAL],
				      (int64_t)(spawn.process->first_stamp - stamps[SPAWN_BEGIN]));
			sample_record(rows[i][IMAGE_LOAD],
				      (int64_t)(stamps[SPAWN_IMAGE] - stamps[SPAWN_ADDRESS_SPACE]));
			good = spawn_finish(&spawn);
		}
		process_unwatch();
		if (!good) {
			(void)spawn_failed(run, &spawn);
		}
		spawn_unmake(&spawn_untracked, &spawn);
		if (!good) {
			return false;
		}
	}
	return true;
}

static const struct benchmark spawn_image_size = {
	.name = "spawn.image-size",
	.summary = "a process by the size of its image",
	.sample_count = spawn_long_sample_count,
	.sample_us = spawn_long_sample_us,
	.row_count = row_count,
	.prepare = prepare,
	.sample = sample,
};

BENCHMARK(spawn_image_size);

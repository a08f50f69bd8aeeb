/* sources: src/process/elf.c src/bench/random.c */
/*
 * The ELF reader: a good program is read as it is, each kind of bad one is refused by name, and
 * whatever passes lies within the file and the limits. Damaged files from a fixed seed, each in
 * memory of its own size, so that the address sanitizer sees every read beyond it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <elf.h>

#include "el1bench/random.h"

#include "el1bench/elf.h"

#define MUTATIONS 200000
#define FILE_BYTES 512

struct file {
	Elf64_Ehdr header;
	Elf64_Phdr segments[3];
	uint8_t content[FILE_BYTES - sizeof(Elf64_Ehdr) - 3 * sizeof(Elf64_Phdr)];
};

static struct file good(void)
{
	struct file file = {
		.header =
			{
				.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					    ELFDATA2LSB, EV_CURRENT},
				.e_type = ET_EXEC,
				.e_machine = EM_AARCH64,
				.e_version = EV_CURRENT,
				.e_entry = 0x400004,
				.e_phoff = sizeof(Elf64_Ehdr),
				.e_phentsize = sizeof(Elf64_Phdr),
				.e_phnum = 3,
			},
		.segments =
			{
				{.p_type = PT_LOAD,
				 .p_flags = PF_R | PF_X,
				 .p_offset = 256,
				 .p_vaddr = 0x400000,
				 .p_filesz = 64,
				 .p_memsz = 64},
				{.p_type = PT_NOTE, .p_vaddr = 7, .p_filesz = 1000000},
				{.p_type = PT_LOAD,
				 .p_flags = PF_R | PF_W,
				 .p_offset = 320,
				 .p_vaddr = 0x402000,
				 .p_filesz = 16,
				 .p_memsz = 8192},
			},
	};

	return file;
}

static const char *read_file(const struct file *file, size_t bytes, struct elf_program *program)
{
	uint8_t *copy = malloc(bytes == 0 ? 1 : bytes); /* malloc aligns to 16 */
	const char *problem;

	memcpy(copy, file, bytes);
	problem = elf_read(copy, bytes, program);
	for (uint32_t i = 0; problem == NULL && i < program->segment_count; i++) {
		const struct elf_segment *segment = &program->segments[i];

		assert_true(segment->content >= copy);
		assert_true(segment->content_bytes <= segment->bytes);
		assert_true((size_t)(segment->content - copy) + segment->content_bytes <= bytes);
	}
	free(copy);
	return problem;
}

static void test_good(void **state)
{
	struct file file = good();
	struct elf_program program;

	(void)state;
	assert_null(read_file(&file, sizeof(file), &program));
	assert_int_equal(program.entry, 0x400004);
	assert_int_equal(program.segment_count, 2);
	assert_int_equal(program.segments[0].address, 0x400000);
	assert_int_equal(program.segments[0].flags, ELF_READ | ELF_EXECUTE);
	assert_int_equal(program.segments[1].bytes, 8192);
	assert_int_equal(program.segments[1].content_bytes, 16);
}

static void assert_refused(const struct file *file, size_t bytes, const char *part)
{
	struct elf_program program;
	const char *problem = read_file(file, bytes, &program);

	assert_non_null(problem);
	if (strstr(problem, part) == NULL) {
		fail_msg("refused with `%s`, not with `%s`", problem, part);
	}
}

#define REFUSED(change, part)                                                                      \
	do {                                                                                       \
		struct file file = good();                                                         \
		change;                                                                            \
		assert_refused(&file, sizeof(file), part);                                         \
	} while (0)

static void test_refused_by_name(void **state)
{
	struct file whole = good();

	(void)state;
	assert_refused(&whole, 0, "truncated in its header");
	assert_refused(&whole, sizeof(Elf64_Ehdr) - 1, "truncated in its header");
	assert_refused(&whole, sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Phdr) - 1,
		       "truncated in its program headers");
	assert_refused(&whole, 300, "truncated in a segment");
	REFUSED(file.header.e_ident[0] = 0, "no ELF file");
	REFUSED(file.header.e_ident[EI_CLASS] = ELFCLASS32, "not 64-bit");
	REFUSED(file.header.e_ident[EI_DATA] = ELFDATA2MSB, "little-endian");
	REFUSED(file.header.e_machine = EM_X86_64, "another machine");
	REFUSED(file.header.e_type = ET_DYN, "not linked statically");
	REFUSED(file.header.e_phentsize = 32, "unknown form");
	REFUSED(file.header.e_phoff += 4, "unknown form");
	REFUSED(file.header.e_phoff = UINT64_MAX - 7, "truncated in its program headers");
	REFUSED(file.header.e_phnum = 0xffff, "truncated in its program headers");
	REFUSED(file.header.e_phnum = 0, "entry");
	REFUSED(file.header.e_entry = 0x400040, "entry");
	REFUSED(file.header.e_entry = 0x402000, "entry");
	REFUSED(file.header.e_entry = 0x400002, "entry");
	REFUSED(file.segments[1].p_type = PT_INTERP, "dynamically");
	REFUSED(file.segments[1].p_type = PT_TLS, "thread-local");
	REFUSED(file.segments[0].p_offset = UINT64_MAX, "truncated in a segment");
	REFUSED(file.segments[0].p_memsz = 63, "larger in the file");
	REFUSED(file.segments[2].p_memsz = UINT64_MAX, "too large");
	REFUSED(file.segments[2].p_memsz = ELF_MEMORY_MAX, "too large");
	REFUSED(file.segments[2].p_vaddr = 0x402008, "not on a page");
	REFUSED(file.segments[2].p_vaddr = 0x1000, "4 MiB");
	REFUSED(file.segments[2].p_vaddr = 0xffff800000000000, "1 GiB");
	REFUSED(file.segments[2].p_flags = PF_W | PF_X, "both writable and executable");
	REFUSED(file.segments[2].p_vaddr = 0x400000, "overlap");
	REFUSED((file.segments[0].p_memsz = 0x2001), "overlap");
}

static void test_too_many_segments(void **state)
{
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr segments[ELF_SEGMENTS_MAX + 1];
	} file = {.header = good().header};
	struct elf_program program;

	(void)state;
	file.header.e_phnum = ELF_SEGMENTS_MAX + 1;
	for (uint32_t i = 0; i <= ELF_SEGMENTS_MAX; i++) {
		file.segments[i] = good().segments[0];
		file.segments[i].p_filesz = 0;
		file.segments[i].p_vaddr += 0x1000U * i;
	}
	assert_string_equal(elf_read(&file, sizeof(file), &program),
			    "the program has too many segments");
}

static void check_limits(const struct elf_program *program)
{
	uint64_t pages = 0;

	assert_true(program->segment_count > 0 && program->segment_count <= ELF_SEGMENTS_MAX);
	for (uint32_t i = 0; i < program->segment_count; i++) {
		const struct elf_segment *one = &program->segments[i];

		assert_true(one->address % 4096 == 0 && one->bytes > 0);
		assert_true(one->address >= ELF_ADDRESS_MIN);
		assert_true(one->address + one->bytes <= ELF_ADDRESS_END);
		assert_true((one->flags & (PF_W | PF_X)) != (PF_W | PF_X));
		pages += (one->bytes + 4095) / 4096;
		for (uint32_t k = 0; k < i; k++) {
			const struct elf_segment *other = &program->segments[k];

			assert_true(one->address / 4096 >
					    (other->address + other->bytes - 1) / 4096 ||
				    other->address / 4096 > (one->address + one->bytes - 1) / 4096);
		}
	}
	assert_true(pages <= ELF_MEMORY_MAX / 4096);
}

/* Values that sit at the limits are tried more often than chance would. */
static uint64_t odd_value(struct random_state *random)
{
	static const uint64_t values[] = {0,          1,          7,          63,
					  64,         4095,       4096,       0x400000,
					  0x402000,   UINT32_MAX, UINT64_MAX, UINT64_MAX - 4095,
					  0x3fb00000, 0x40000000, 1ULL << 63, ELF_MEMORY_MAX};

	return values[random_below(random, sizeof(values) / sizeof(values[0]))];
}

static void test_damaged(void **state)
{
	struct random_state random;
	uint32_t accepted = 0;

	(void)state;
	random_seed(&random, 5);
	for (uint32_t i = 0; i < MUTATIONS; i++) {
		struct file file = good();
		size_t bytes = random_below(&random, 4) == 0 ? random_below(&random, FILE_BYTES)
							     : FILE_BYTES;
		struct elf_program program;

		for (uint32_t k = random_below(&random, 4); k != UINT32_MAX; k--) {
			uint64_t value = odd_value(&random);
			size_t width = (size_t)1 << random_below(&random, 4);
			size_t at = random_below(&random, 232) & ~(width - 1);

			if (random_below(&random, 2) == 0) {
				memcpy((uint8_t *)&file + at, &value, width);
			} else {
				((uint8_t *)&file)[at] ^= (uint8_t)(1U << random_below(&random, 8));
			}
		}
		if (read_file(&file, bytes, &program) == NULL) {
			check_limits(&program);
			accepted++;
		}
	}
	assert_true(accepted > MUTATIONS / 100 && accepted < MUTATIONS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_refused_by_name),
		cmocka_unit_test(test_too_many_segments),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

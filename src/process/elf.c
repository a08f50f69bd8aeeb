/*
 * The checks of an ELF file, in the order in which its parts are reached. No sum of two numbers
 * from the file is formed before it is known not to wrap.
 */
#include "el1bench/elf.h"

#include <stdbool.h>
#include <stddef.h>

#include "el1bench/pages.h"
#include "el1bench/timed.h"

#define ELF_MAGIC 0x464c457fU          /* 0x7f, "ELF", little-endian */
#define ELF_CLASS_64_LITTLE 0x00010102 /* e_ident[4..7]: 64 bits, little-endian, version 1, SysV */
#define ELF_TYPE_EXEC 2
#define ELF_MACHINE_AARCH64 183

#define SEGMENT_DYNAMIC 2U
#define SEGMENT_INTERPRETER 3U
#define SEGMENT_TLS 7U

TIMED_INLINE uint64_t whole_pages(uint64_t bytes)
{
	return (bytes + PAGE_BYTES - 1) & ~(uint64_t)(PAGE_BYTES - 1);
}

TIMED static const char *check_header(const struct elf_header *header, uint64_t bytes)
{
	if (bytes < sizeof(*header)) {
		return "the program is truncated in its header";
	}
	if (header->magic != ELF_MAGIC) {
		return "the program is no ELF file";
	}
	if ((header->class & 0xffffff) != (ELF_CLASS_64_LITTLE & 0xffffff)) {
		return "the program is not 64-bit little-endian";
	}
	if (header->machine != ELF_MACHINE_AARCH64) {
		return "the program is for another machine";
	}
	if (header->type != ELF_TYPE_EXEC) {
		return "the program is not linked statically at a fixed address";
	}
	if (header->program_header_bytes != sizeof(struct elf_program_header) ||
	    header->program_headers % 8 != 0) {
		return "the program's headers have an unknown form";
	}
	if (header->program_headers > bytes ||
	    header->program_header_count * sizeof(struct elf_program_header) >
		    bytes - header->program_headers) {
		return "the program is truncated in its program headers";
	}
	return NULL;
}

/* A segment on its own; the file has `bytes`. */
TIMED static const char *check_segment(const struct elf_program_header *header, uint64_t bytes)
{
	if (header->offset > bytes || header->file_bytes > bytes - header->offset) {
		return "the program is truncated in a segment";
	}
	if (header->file_bytes > header->memory_bytes) {
		return "a segment of the program is larger in the file than in memory";
	}
	if (header->memory_bytes > ELF_MEMORY_MAX) {
		return "the program is too large";
	}
	if (header->address % PAGE_BYTES != 0 || header->address < ELF_ADDRESS_MIN ||
	    header->address > ELF_ADDRESS_END - ELF_MEMORY_MAX) {
		return "a segment of the program is not on a page between 4 MiB and 1 GiB";
	}
	if ((header->flags & ELF_WRITE) != 0 && (header->flags & ELF_EXECUTE) != 0) {
		return "a segment of the program is both writable and executable";
	}
	return NULL;
}

TIMED static bool overlaps(const struct elf_program *program, const struct elf_segment *segment)
{
	for (uint32_t i = 0; i < program->segment_count; i++) {
		const struct elf_segment *other = &program->segments[i];

		if (segment->address < other->address + whole_pages(other->bytes) &&
		    other->address < segment->address + whole_pages(segment->bytes)) {
			return true;
		}
	}
	return false;
}

TIMED static bool entry_is_code(const struct elf_program *program)
{
	for (uint32_t i = 0; i < program->segment_count; i++) {
		const struct elf_segment *segment = &program->segments[i];

		if ((segment->flags & ELF_EXECUTE) != 0 && program->entry % 4 == 0 &&
		    program->entry >= segment->address &&
		    program->entry - segment->address < segment->bytes) {
			return true;
		}
	}
	return false;
}

/* Adds a loadable segment; `total` sums the bytes in memory up. */
TIMED static const char *add_segment(struct elf_program *program, const uint8_t *file,
				     uint64_t bytes, const struct elf_program_header *header,
				     uint64_t *total)
{
	struct elf_segment *segment = &program->segments[program->segment_count];
	const char *problem = check_segment(header, bytes);

	if (problem != NULL) {
		return problem;
	}
	if (program->segment_count == ELF_SEGMENTS_MAX) {
		return "the program has too many segments";
	}
	segment->address = header->address;
	segment->bytes = header->memory_bytes;
	segment->content = file + header->offset;
	segment->content_bytes = header->file_bytes;
	segment->flags = header->flags;
	*total += whole_pages(segment->bytes);
	if (*total > ELF_MEMORY_MAX) {
		return "the program is too large";
	}
	if (overlaps(program, segment)) {
		return "two segments of the program overlap";
	}
	program->segment_count++;
	return NULL;
}

TIMED const char *elf_read(const void *file, uint64_t bytes, struct elf_program *program)
{
	const struct elf_header *header = file;
	const char *problem = check_header(header, bytes);
	const struct elf_program_header *headers;
	uint64_t total = 0;

	if (problem != NULL) {
		return problem;
	}
	headers = (const void *)((const uint8_t *)file + header->program_headers);
	program->entry = header->entry;
	program->segment_count = 0;
	for (uint32_t i = 0; i < header->program_header_count; i++) {
		uint32_t type = headers[i].type;

		if (type == SEGMENT_DYNAMIC || type == SEGMENT_INTERPRETER || type == SEGMENT_TLS) {
			return "the program is linked dynamically or has thread-local storage";
		}
		if (type != ELF_SEGMENT_LOAD || headers[i].memory_bytes == 0) {
			continue;
		}
		problem = add_segment(program, file, bytes, &headers[i], &total);
		if (problem != NULL) {
			return problem;
		}
	}
	return entry_is_code(program) ? NULL : "the program's entry is not in its code";
}

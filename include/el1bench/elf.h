/*
 * Reading a static ELF program for EL0 (System V ABI; ELF for the Arm 64-bit Architecture). The
 * file is hostile input: whatever it holds, what `elf_read` accepts lies within the file and within
 * the limits below. No hardware access; runs on a host too.
 */
#pragma once

#include <stdint.h>

#define ELF_SEGMENTS_MAX 4U
#define ELF_ADDRESS_MIN UINT64_C(0x400000)   /* lowest address of a segment */
#define ELF_ADDRESS_END UINT64_C(0x40000000) /* one past the highest */
#define ELF_MEMORY_MAX (UINT64_C(5) << 20)   /* bytes of all segments in memory, whole pages */

/* p_flags */
#define ELF_EXECUTE 1U
#define ELF_WRITE 2U
#define ELF_READ 4U

#define ELF_SEGMENT_LOAD 1U /* p_type */

/* The file's own structures; their fields are naturally aligned. */
struct elf_header {
	uint32_t magic;
	uint32_t class;
	uint64_t padding;
	uint16_t type;
	uint16_t machine;
	uint32_t version;
	uint64_t entry;
	uint64_t program_headers;
	uint64_t section_headers;
	uint32_t flags;
	uint16_t header_bytes;
	uint16_t program_header_bytes;
	uint16_t program_header_count;
	uint16_t sections[3];
};

struct elf_program_header {
	uint32_t type;
	uint32_t flags;
	uint64_t offset;
	uint64_t address;
	uint64_t physical;
	uint64_t file_bytes;
	uint64_t memory_bytes;
	uint64_t align;
};

/* A segment to load. No two share a page, none is both writable and executable. */
struct elf_segment {
	uint64_t address;       /* in pages: a multiple of 4096 */
	uint64_t bytes;         /* in memory, at least 1 */
	const uint8_t *content; /* `content_bytes` of the file; the rest is zero */
	uint64_t content_bytes; /* at most `bytes` */
	uint32_t flags;
};

struct elf_program {
	uint64_t entry; /* in an executable segment, a multiple of 4 */
	uint32_t segment_count;
	struct elf_segment segments[ELF_SEGMENTS_MAX];
};

/*
 * Reads the file's headers into `program`. Returns NULL, or why the file is refused: a literal.
 * `file` must be aligned to 8 bytes and stay as it is while `program` is used. Timed code.
 */
const char *elf_read(const void *file, uint64_t bytes, struct elf_program *program);

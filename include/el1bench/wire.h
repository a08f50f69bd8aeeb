/*
 * Machine lines (docs/log-format.md): prefix, type, sequence number, body, CRC-32. Core 0, after
 * timing (and, for the lines before the plan, before it).
 */
#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#define WIRE_PREFIX "@el1b"
#define WIRE_LINE_MAX 2048

/* The CRC-32 of ISO-HDLC (as zlib's), continued from `crc` (0 to start). */
uint32_t crc32(uint32_t crc, const void *bytes, size_t count);

/*
 * Writes one machine line to standard output: `type`, the next sequence number, the formatted body and
 * the CRC. Bytes of the body that are not printable ASCII are written as `?`; a body that is too
 * long is cut and says so.
 */
void wire_line(const char *type, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Machine lines written so far in this boot. */
uint32_t wire_line_count(void);

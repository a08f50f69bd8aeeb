/*
 * Machine lines (docs/log-format.md): prefix, type, sequence number, body, CRC-32. Core 0, after
 * timing (and, for the lines before the plan, before it). Each line arms the watchdog anew.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WIRE_PREFIX "@el1b"
#define WIRE_LINE_MAX 2048

/* The CRC-32 of ISO-HDLC (as zlib's), continued from `crc` (0 to start). */
uint32_t crc32(uint32_t crc, const void *bytes, size_t count);

/*
 * Writes one machine line to the console: `type`, the next sequence number, the formatted body
 * and the CRC. The body is cleaned as below; one that is too long is cut and ends in `...`.
 */
void wire_line(const char *type, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* From now on the types of machine lines start with `prefix`, a constant; "" at first. */
void wire_prefix_types(const char *prefix);

/* Machine lines written so far in this boot. */
uint32_t wire_line_count(void);

/* Writes one line for a person, without the line's end in `format`; cleaned as below. */
void text_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Makes text fit to be printed: bytes that are not printable ASCII become `?`, and so does the last
 * character of what a test farm would take for a kernel's crash, and of a false start of a machine
 * line. In place; the length stays.
 */
void wire_clean(char *text);

/* True if the text holds none of those. */
bool wire_is_clean(const char *text);

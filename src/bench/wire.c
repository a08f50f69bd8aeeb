/*
 * Machine lines and lines for a person, each formatted in one static buffer.
 */
#include "el1bench/wire.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "el1bench/console.h"
#include "el1bench/watchdog.h"

#define TRAILER_CHARACTERS 10 /* " *" and eight hex digits */
#define BODY_END (WIRE_LINE_MAX - TRAILER_CHARACTERS)
#define CUT_MARK "..."

static char line[WIRE_LINE_MAX + 2]; /* with its end of line and a terminator */
static uint32_t line_count;
static const char *type_prefix = "";

/* What LAVA takes for a failure while booting, and the start of a machine line inside another. */
static const char *const forbidden[] = {
	"WARNING:",
	"BUG:",
	"Oops",
	"Unhandled fault",
	"invalid opcode:",
	"Kernel panic - not syncing",
	"-[ cut here ]",
	"Login incorrect",
	"Login timed out",
	WIRE_PREFIX " ",
};

#define FORBIDDEN_COUNT (sizeof(forbidden) / sizeof(forbidden[0]))
#define CHARACTER_BIT(character) (UINT64_C(1) << ((character) % 64))

/* Characters that a forbidden string begins with, modulo 64: one look rules most places out. */
static uint64_t first_characters(void)
{
	uint64_t set = 0;

	for (size_t i = 0; i < FORBIDDEN_COUNT; i++) {
		set |= CHARACTER_BIT(forbidden[i][0]);
	}
	return set;
}

/* The length of the forbidden string that starts at `text`, or 0. */
static size_t forbidden_at(const char *text, uint64_t first)
{
	if ((first & CHARACTER_BIT((unsigned char)text[0])) == 0) {
		return 0;
	}
	for (size_t i = 0; i < FORBIDDEN_COUNT; i++) {
		if (text[0] == forbidden[i][0] &&
		    strncmp(text, forbidden[i], strlen(forbidden[i])) == 0) {
			return strlen(forbidden[i]);
		}
	}
	return 0;
}

static bool is_printable(char character)
{
	return character >= ' ' && character <= '~';
}

void wire_clean(char *text)
{
	uint64_t first = first_characters();

	for (; *text != '\0'; text++) {
		size_t length;

		if (!is_printable(*text)) {
			*text = '?';
		}
		length = forbidden_at(text, first);
		if (length > 0) {
			text[length - 1] = '?';
		}
	}
}

bool wire_is_clean(const char *text)
{
	uint64_t first = first_characters();

	for (; *text != '\0'; text++) {
		if (!is_printable(*text) || forbidden_at(text, first) > 0) {
			return false;
		}
	}
	return true;
}

/*
 * Formats at `start` in the line so that it ends before `end`; what is longer is cut and marked.
 * Returns the length of the line so far.
 */
static size_t append(size_t start, size_t end, const char *format, va_list arguments)
{
	int length = vsnprintf(line + start, end - start + 1, format, arguments);

	watchdog_kick();
	if (length < 0) {
		line[start] = '\0';
		return start;
	}
	if ((size_t)length > end - start) {
		memcpy(line + end - strlen(CUT_MARK), CUT_MARK, strlen(CUT_MARK));
		length = (int)(end - start);
	}
	wire_clean(line + start);
	return start + (size_t)length;
}

void wire_line(const char *type, const char *format, ...)
{
	int head = snprintf(line, BODY_END, WIRE_PREFIX " %s%s %" PRIu32 " ", type_prefix, type,
			    line_count);
	va_list arguments;
	size_t length;

	va_start(arguments, format);
	length = append((size_t)head, BODY_END, format, arguments);
	va_end(arguments);
	(void)snprintf(line + length, sizeof(line) - length, " *%08" PRIx32 "\n",
		       crc32(0, line, length));
	line_count++;
	console_write(line, strlen(line));
}

void text_line(const char *format, ...)
{
	va_list arguments;
	size_t length;

	va_start(arguments, format);
	length = append(0, WIRE_LINE_MAX, format, arguments);
	va_end(arguments);
	line[length] = '\n';
	line[length + 1] = '\0';
	console_write(line, strlen(line));
}

void wire_prefix_types(const char *prefix)
{
	type_prefix = prefix;
}

uint32_t wire_line_count(void)
{
	return line_count;
}

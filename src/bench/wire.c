/*
 * Machine lines and lines for a person, each formatted in one static buffer.
 */
#include "el1bench/wire.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "el1bench/console.h"

#define TRAILER_CHARACTERS 10 /* " *" and eight hex digits */
#define BODY_END (WIRE_LINE_MAX - TRAILER_CHARACTERS)
#define CUT_MARK "..."

static char line[WIRE_LINE_MAX + 2]; /* with its end of line and a terminator */
static uint32_t line_count;

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

/* The length of the forbidden string that starts at `text`, or 0. */
static size_t forbidden_at(const char *text)
{
	for (size_t i = 0; i < sizeof(forbidden) / sizeof(forbidden[0]); i++) {
		if (text[0] == forbidden[i][0]) {
			size_t length = strlen(forbidden[i]);

			if (strncmp(text, forbidden[i], length) == 0) {
				return length;
			}
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
	for (; *text != '\0'; text++) {
		size_t length;

		if (!is_printable(*text)) {
			*text = '?';
		}
		length = forbidden_at(text);
		if (length > 0) {
			text[length - 1] = '?';
		}
	}
}

bool wire_is_clean(const char *text)
{
	for (; *text != '\0'; text++) {
		if (!is_printable(*text) || forbidden_at(text) > 0) {
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
	int head = snprintf(line, BODY_END, WIRE_PREFIX " %s %" PRIu32 " ", type, line_count);
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

uint32_t wire_line_count(void)
{
	return line_count;
}

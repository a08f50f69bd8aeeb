/*
 * The words of U-Boot's `go`, copied out of memory that may not be what it is taken for.
 */
#include "el1bench/go_arguments.h"

#include <string.h>

#define WORD_BYTES 256 /* of one word, NUL included; what is longer is no `go` */

static bool read_word(uint64_t address, char word[WORD_BYTES], go_read_function read)
{
	for (size_t i = 0; i < WORD_BYTES; i++) {
		if (address + i < address || !read(address + i, &word[i], 1)) {
			return false;
		}
		if (word[i] == '\0') {
			return true;
		}
	}
	return false;
}

/* A whole word of hex digits, with or without 0x, that fits 64 bits. */
static bool parse_hex(const char *word, uint64_t *value)
{
	const char *digit = word;

	if (digit[0] == '0' && (digit[1] == 'x' || digit[1] == 'X')) {
		digit += 2;
	}
	if (*digit == '\0' || strlen(digit) > 16) {
		return false;
	}
	*value = 0;
	for (; *digit != '\0'; digit++) {
		unsigned int nibble;

		if (*digit >= '0' && *digit <= '9') {
			nibble = (unsigned int)(*digit - '0');
		} else if (*digit >= 'a' && *digit <= 'f') {
			nibble = (unsigned int)(*digit - 'a') + 10;
		} else if (*digit >= 'A' && *digit <= 'F') {
			nibble = (unsigned int)(*digit - 'A') + 10;
		} else {
			return false;
		}
		*value = *value << 4 | nibble;
	}
	return true;
}

/* Where it does not fit, the text is filled to its end: too long for whoever parses it. */
static void append_word(struct go_arguments *go, const char *word)
{
	size_t used = strlen(go->text);
	size_t length = strlen(word);

	if (used + (used > 0) + length >= sizeof(go->text)) {
		memset(go->text + used, '?', sizeof(go->text) - 1 - used);
		go->text[sizeof(go->text) - 1] = '\0';
		return;
	}
	if (used > 0) {
		go->text[used++] = ' ';
	}
	memcpy(go->text + used, word, length + 1);
}

static bool read_words(struct go_arguments *go, uint64_t count, uint64_t argv,
		       uint64_t load_address, go_read_function read)
{
	for (uint64_t i = 0; i < count; i++) {
		char word[WORD_BYTES];
		uint64_t pointer;
		uint64_t value;
		bool hex;

		if (argv + 8 * i < argv || !read(argv + 8 * i, &pointer, sizeof(pointer)) ||
		    !read_word(pointer, word, read)) {
			return false;
		}
		hex = parse_hex(word, &value);
		if (i == 0) {
			if (!hex || value != load_address) {
				return false;
			}
		} else if (hex && !go->tree_given) {
			go->tree_given = true;
			go->tree_address = value;
			memcpy(go->tree_word, word, strlen(word) + 1);
		} else {
			append_word(go, word);
		}
	}
	return true;
}

bool go_arguments_read(struct go_arguments *go, uint64_t x0, uint64_t x1, uint64_t load_address,
		       go_read_function read)
{
	memset(go, 0, sizeof(*go));
	if (x0 < 1 || x0 > GO_ARGUMENTS_MAX || x1 == 0 || x1 % 8 != 0 ||
	    !read_words(go, x0, x1, load_address, read)) {
		memset(go, 0, sizeof(*go));
		return false;
	}
	return true;
}

void go_arguments_keep_tree_word(struct go_arguments *go)
{
	if (go->tree_given) {
		go->tree_given = false;
		append_word(go, go->tree_word);
	}
}

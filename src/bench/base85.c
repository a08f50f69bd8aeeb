/*
 * Base 85 with the alphabet of RFC 1924, in groups of four bytes to five characters.
 */
#include "el1bench/sample_code.h"

static const char alphabet[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
			       "!#$%&()*+-;<=>?@^_`{|}~";

size_t base85_encode(char *text, const uint8_t *bytes, size_t count)
{
	size_t length = 0;

	for (size_t i = 0; i < count; i += 4) {
		size_t group = count - i < 4 ? count - i : 4;
		char digits[5];
		uint32_t value = 0;

		for (size_t k = 0; k < 4; k++) {
			value = value << 8 | (k < group ? bytes[i + k] : 0U);
		}
		for (size_t k = 5; k-- > 0;) {
			digits[k] = alphabet[value % 85];
			value /= 85;
		}
		for (size_t k = 0; k <= group; k++) {
			text[length++] = digits[k];
		}
	}
	return length;
}

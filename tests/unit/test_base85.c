/* sources: src/bench/base85.c */
/*
 * Known answers (those of Python's base64.b85encode) and a round trip through a decoder written
 * from the alphabet of RFC 1924.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "el1bench/sample_code.h"

static void expect(const char *bytes, size_t count, const char *expected)
{
	char text[64] = {0};

	assert_int_equal(base85_encode(text, (const uint8_t *)bytes, count), strlen(expected));
	assert_string_equal(text, expected);
}

static void known_answers(void **state)
{
	(void)state;
	expect("", 0, "");
	expect("\0", 1, "00");
	expect("\0\0\0\0", 4, "00000");
	expect("\xff\xff\xff\xff", 4, "|NsC0");
	expect("a", 1, "VE");
	expect("abc", 3, "VPaz");
	expect("hello world", 11, "Xk~0{Zy<MXa%^M");
}

static void every_tail_decodes(void **state)
{
	static const char digits[] =
		"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		"!#$%&()*+-;<=>?@^_`{|}~";
	uint32_t noise = 12345;

	(void)state;
	for (size_t count = 0; count <= 41; count++) {
		uint8_t bytes[41];
		char text[64];
		size_t length;

		for (size_t i = 0; i < count; i++) {
			noise = noise * 1664525 + 1013904223;
			bytes[i] = (uint8_t)(noise >> 24);
		}
		length = base85_encode(text, bytes, count);
		assert_int_equal(length, count + (count + 3) / 4);
		for (size_t i = 0, done = 0; i < length; i += 5) {
			size_t characters = length - i < 5 ? length - i : 5;
			uint64_t value = 0;

			for (size_t k = 0; k < 5; k++) {
				const char *digit =
					k < characters ? strchr(digits, text[i + k]) : &digits[84];

				assert_non_null(digit);
				value = value * 85 + (uint64_t)(digit - digits);
			}
			for (size_t k = 0; k + 1 < characters; k++) {
				assert_int_equal(bytes[done], value >> (24 - 8 * k) & 0xff);
				done++;
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_answers),
		cmocka_unit_test(every_tail_decodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

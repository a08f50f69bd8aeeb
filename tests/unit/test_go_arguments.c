/* sources: src/platform/go_arguments.c src/platform/arguments.c src/platform/factors.c src/bench/random.c */
/*
 * The words of U-Boot's `go`, read out of a made-up memory with edges.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "el1bench/go_arguments.h"
#include "el1bench/random.h"

#define BASE UINT64_C(0x3d000000)
#define LOAD UINT64_C(0x20000000)

static uint8_t memory[8192];
static struct go_arguments go;

static bool read_memory(uint64_t physical, void *destination, size_t bytes)
{
	if (physical < BASE || physical - BASE > sizeof(memory) ||
	    bytes > sizeof(memory) - (physical - BASE)) {
		return false;
	}
	memcpy(destination, memory + (physical - BASE), bytes);
	return true;
}

/* Lays out argv at BASE and the strings behind it; returns argc. */
static uint64_t lay_out(const char *const *words)
{
	uint64_t count = 0;
	size_t text = 1024;

	memset(memory, 0xee, sizeof(memory));
	for (; words[count] != NULL; count++) {
		uint64_t pointer = BASE + text;

		memcpy(memory + 8 * count, &pointer, 8);
		strcpy((char *)memory + text, words[count]);
		text += strlen(words[count]) + 1;
	}
	return count;
}

static bool read_words(const char *const *words)
{
	return go_arguments_read(&go, lay_out(words), BASE, LOAD, read_memory);
}

static void words_and_tree(void **state)
{
	(void)state;
	assert_true(read_words((const char *[]){"0x20000000", NULL}));
	assert_false(go.tree_given);
	assert_string_equal(go.text, "");
	assert_true(read_words((const char *[]){"20000000", "el1bench.samples=5", "3d7f0E50",
						"quiet", "1000", NULL}));
	assert_true(go.tree_given);
	assert_int_equal(go.tree_address, 0x3d7f0e50);
	assert_string_equal(go.text, "el1bench.samples=5 quiet 1000");
	go_arguments_keep_tree_word(&go);
	assert_false(go.tree_given);
	assert_string_equal(go.text, "el1bench.samples=5 quiet 1000 3d7f0E50");
}

static void what_is_no_go(void **state)
{
	const char *const words[] = {"0x20000000", "a", NULL};
	char endless[600];

	(void)state;
	assert_false(go_arguments_read(&go, 0, BASE, LOAD, read_memory));
	assert_int_equal(lay_out(words), 2);
	assert_false(go_arguments_read(&go, 65, BASE, LOAD, read_memory));
	assert_false(go_arguments_read(&go, 2, 0, LOAD, read_memory));
	assert_false(go_arguments_read(&go, 2, BASE + 4, LOAD, read_memory));
	assert_false(go_arguments_read(&go, 2, BASE - 8, LOAD, read_memory));
	assert_false(go_arguments_read(&go, 2, ~UINT64_C(7), LOAD, read_memory));
	assert_false(go_arguments_read(&go, 2, BASE, LOAD + 0x200000, read_memory));
	assert_false(go_arguments_read(&go, 3, BASE, LOAD, read_memory));
	assert_true(go_arguments_read(&go, 2, BASE, LOAD, read_memory));
	assert_true(go.tree_given);
	assert_false(read_words((const char *[]){"image", NULL}));
	assert_false(read_words((const char *[]){"", NULL}));
	assert_false(read_words((const char *[]){"0x", NULL}));
	assert_false(read_words((const char *[]){"00000000020000000", NULL}));

	memset(endless, 'y', sizeof(endless));
	endless[sizeof(endless) - 1] = '\0';
	assert_false(read_words((const char *[]){"0x20000000", endless, NULL}));
	assert_string_equal(go.text, "");
	assert_false(go.tree_given);
}

static void too_much_text_is_refused_and_not_cut(void **state)
{
	static struct arguments arguments;
	const char *words[42] = {"0x20000000"};
	char word[60];

	(void)state;
	memset(word, 'z', sizeof(word));
	word[sizeof(word) - 1] = '\0';
	for (int i = 1; i < 41; i++) {
		words[i] = word;
	}
	assert_true(read_words(words));
	assert_int_equal(strlen(go.text), sizeof(go.text) - 1);
	arguments_defaults(&arguments);
	arguments_parse(&arguments, go.text);
	assert_true(arguments.refused);
}

static void fuzz(void **state)
{
	const char *const words[] = {"0x20000000", "el1bench.samples=5", "3d7f0e50", NULL};
	struct random_state random;
	uint32_t read = 0;

	(void)state;
	random_seed(&random, 4);
	for (int i = 0; i < 50000; i++) {
		uint64_t count = lay_out(words) + random_below(&random, 2);

		for (uint32_t k = random_below(&random, 4); k > 0; k--) {
			memory[random_below(&random, 2) == 0 ? random_below(&random, 32)
							     : 1024 + random_below(&random, 64)] =
				(uint8_t)random_next(&random);
		}
		if (go_arguments_read(&go, count, BASE, LOAD, read_memory)) {
			read++;
		}
		go_arguments_keep_tree_word(&go);
		assert_non_null(memchr(go.text, '\0', sizeof(go.text)));
	}
	assert_true(read > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_and_tree),
		cmocka_unit_test(what_is_no_go),
		cmocka_unit_test(too_much_text_is_refused_and_not_cut),
		cmocka_unit_test(fuzz),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

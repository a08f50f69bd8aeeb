/*
 * The words that U-Boot's `go` hands over: x0 = argc, x1 = argv, argv[0] the address itself. They
 * lie in memory that may not be there, so every pointer and string is read through a callback and
 * every length is bounded. No hardware access; runs on a host too.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "el1bench/arguments.h"

#define GO_ARGUMENTS_MAX 64 /* words; U-Boot's own limit is the same */

struct go_arguments {
	bool tree_given;       /* a word of bare hex digits was there: ... */
	uint64_t tree_address; /* ... its value ... */
	char tree_word[20];    /* ... and the word itself */
	/*
	 * All other words, one space between; longer than arguments_parse takes where it was cut,
	 * so that a cut text is refused and never half obeyed.
	 */
	char text[ARGUMENTS_TEXT_BYTES + 1];
};

/* Reads `bytes` at a physical address; false if that is not possible. */
typedef bool (*go_read_function)(uint64_t physical, void *destination, size_t bytes);

/*
 * Reads the words; false, and no words, unless x0 is 1 to GO_ARGUMENTS_MAX, x1 is an aligned
 * pointer, argv[0] is a hexadecimal number equal to `load_address`, and all can be read.
 */
bool go_arguments_read(struct go_arguments *go, uint64_t x0, uint64_t x1, uint64_t load_address,
		       go_read_function read);

/* The hex word was no tree: it joins the other words, so that it is listed among the ignored. */
void go_arguments_keep_tree_word(struct go_arguments *go);

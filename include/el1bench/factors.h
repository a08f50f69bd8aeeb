/*
 * Factors: circumstances that are varied on purpose. Each is a boot argument that takes one value
 * or a list of them, and a row says in its `factors` which of them it was measured under. Several
 * lists make the cross product. No hardware access; runs on a host too.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FACTOR_VALUES_MAX 8        /* of one factor */
#define FACTOR_COMBINATIONS_MAX 64 /* of all */
#define FACTOR_PAYLOAD_MAX 64      /* cache lines */
#define FACTOR_TEXT_BYTES 80       /* of the longest combination, NUL included */
#define PAIRS_MAX 32

enum factor { FACTOR_RECEIVER, FACTOR_PAYLOAD, FACTOR_CACHE, FACTOR_LOAD, FACTOR_BARRIER, FACTORS };

/* What the receiver does when the interrupt comes. */
enum factor_receiver { RECEIVER_SPIN, RECEIVER_WFE, RECEIVER_WFI, RECEIVER_BUSY };
enum factor_cache { CACHE_WARM, CACHE_COLD };
enum factor_load { LOAD_NONE, LOAD_MEMORY };
/* FACTOR_BARRIER has the values of enum gic_barrier; FACTOR_PAYLOAD a number of lines, 0: none. */

/* What was asked for, in that order. A count of 0: not given, the value is 0. */
struct factor_lists {
	struct {
		uint8_t count;
		uint8_t values[FACTOR_VALUES_MAX];
	} of[FACTORS];
};

/* One combination, by enum factor. */
struct factor_set {
	uint8_t values[FACTORS];
};

#define PAIR_ANY 0xff

/* Ordered pairs of cores, by index; PAIR_ANY stands for each. A count of 0: all pairs. */
struct pair_list {
	uint8_t count;
	struct {
		uint8_t from;
		uint8_t to;
	} pairs[PAIRS_MAX];
};

/* The boot argument's key. */
const char *factor_name(enum factor factor);

/* Reads `value,value`. Returns NULL or, where something is wrong, what would have been good. */
const char *factor_parse(struct factor_lists *lists, enum factor factor, const char *text);

/* What is wrong with all of them together, or NULL. */
const char *factors_conflict(const struct factor_lists *lists);

/* How many combinations there are, at least 1. */
uint32_t factors_count(const struct factor_lists *lists);

/* Combination `index`, from 0 on; the last factor varies fastest. */
struct factor_set factors_get(const struct factor_lists *lists, uint32_t index);

/*
 * Writes `key=value,key=value` for the factors that were given; returns `text`, or NULL if none
 * was.
 */
const char *factors_describe(const struct factor_lists *lists, const struct factor_set *set,
			     char text[FACTOR_TEXT_BYTES]);

/* Reads `0>3,1>*`. Returns NULL or what would have been good. */
const char *pairs_parse(struct pair_list *list, const char *text);

/* True if the list is empty or names the pair. */
bool pairs_select(const struct pair_list *list, uint32_t from, uint32_t to);

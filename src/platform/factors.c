/*
 * Factors and pairs of cores: their boot arguments, which are as hostile as any.
 */
#include "el1bench/factors.h"

#include <stdio.h>
#include <string.h>

#include "el1bench/cpu.h"

#define NAMES_MAX 4 /* values with a name, of one factor */

/* Position in `names` is the value. FACTOR_PAYLOAD takes numbers too. */
static const struct {
	const char *key;
	const char *wanted;
	const char *names[NAMES_MAX];
} factors[FACTORS] = {
	[FACTOR_RECEIVER] = {"receiver",
			     "spin, wfe, wfi or busy, comma-separated, each once",
			     {"spin", "wfe", "wfi", "busy"}},
	[FACTOR_PAYLOAD] = {"payload",
			    "none or 1 to 64 cache lines, comma-separated, each once",
			    {"none"}},
	[FACTOR_CACHE] = {"cache", "warm or cold, comma-separated, each once", {"warm", "cold"}},
	[FACTOR_LOAD] = {"load", "none or memory, comma-separated, each once", {"none", "memory"}},
	[FACTOR_BARRIER] = {"barrier",
			    "ishst, sy or none, comma-separated, each once",
			    {"ishst", "sy", "none"}},
};

const char *factor_name(enum factor factor)
{
	return factors[factor].key;
}

/* Cuts digits off the text: a number from 0 to `most`; false if there is none. */
static bool take_number(const char **text, uint32_t most, uint8_t *number)
{
	uint32_t value = 0;
	const char *c = *text;

	for (; *c >= '0' && *c <= '9'; c++) {
		value = value * 10 + (uint32_t)(*c - '0');
		if (value > most) {
			return false;
		}
	}
	if (c == *text) {
		return false;
	}
	*number = (uint8_t)value;
	*text = c;
	return true;
}

/* One value, up to the comma or the end. */
static bool take_value(enum factor factor, const char **text, uint8_t *value)
{
	size_t length = strcspn(*text, ",");

	for (uint8_t i = 0; i < NAMES_MAX && factors[factor].names[i] != NULL; i++) {
		if (strlen(factors[factor].names[i]) == length &&
		    memcmp(factors[factor].names[i], *text, length) == 0) {
			*value = i;
			*text += length;
			return true;
		}
	}
	return factor == FACTOR_PAYLOAD && take_number(text, FACTOR_PAYLOAD_MAX, value) &&
	       *value > 0;
}

const char *factor_parse(struct factor_lists *lists, enum factor factor, const char *text)
{
	uint8_t count = 0;

	for (;;) {
		uint8_t value;

		if (count == FACTOR_VALUES_MAX || !take_value(factor, &text, &value) ||
		    memchr(lists->of[factor].values, value, count) != NULL) {
			return factors[factor].wanted;
		}
		lists->of[factor].values[count++] = value;
		lists->of[factor].count = count;
		if (*text == '\0') {
			return NULL;
		}
		if (*text++ != ',') {
			return factors[factor].wanted;
		}
	}
}

uint32_t factors_count(const struct factor_lists *lists)
{
	uint32_t count = 1;

	for (uint32_t factor = 0; factor < FACTORS; factor++) {
		count *= lists->of[factor].count == 0 ? 1 : lists->of[factor].count;
	}
	return count;
}

const char *factors_conflict(const struct factor_lists *lists)
{
	bool unordered = false;
	bool loaded = false;

	if (factors_count(lists) > FACTOR_COMBINATIONS_MAX) {
		return "the lists of factors make more than 64 combinations";
	}
	for (uint32_t i = 0; i < lists->of[FACTOR_BARRIER].count; i++) {
		const char *name =
			factors[FACTOR_BARRIER].names[lists->of[FACTOR_BARRIER].values[i]];

		unordered = unordered || strcmp(name, "none") == 0;
	}
	for (uint32_t i = 0; i < lists->of[FACTOR_PAYLOAD].count; i++) {
		loaded = loaded || lists->of[FACTOR_PAYLOAD].values[i] > 0;
	}
	return unordered && loaded
		       ? "barrier=none takes payload=none: the receiver could miss what "
			 "was stored"
		       : NULL;
}

struct factor_set factors_get(const struct factor_lists *lists, uint32_t index)
{
	struct factor_set set = {{0}};

	for (uint32_t factor = FACTORS; factor-- > 0;) {
		uint32_t count = lists->of[factor].count;

		if (count > 0) {
			set.values[factor] = lists->of[factor].values[index % count];
			index /= count;
		}
	}
	return set;
}

const char *factors_describe(const struct factor_lists *lists, const struct factor_set *set,
			     char text[FACTOR_TEXT_BYTES])
{
	size_t length = 0;

	for (uint32_t factor = 0; factor < FACTORS; factor++) {
		uint8_t value = set->values[factor];
		char number[4];
		const char *name = number;

		if (lists->of[factor].count == 0) {
			continue;
		}
		if (factor != FACTOR_PAYLOAD || value == 0) {
			name = factors[factor].names[value];
		} else {
			(void)snprintf(number, sizeof(number), "%u", value);
		}
		length += (size_t)snprintf(text + length, FACTOR_TEXT_BYTES - length, "%s%s=%s",
					   length == 0 ? "" : ",", factors[factor].key, name);
	}
	return length == 0 ? NULL : text;
}

/* A core's index or `*`. */
static bool take_core(const char **text, uint8_t *core)
{
	if (**text == '*') {
		(*text)++;
		*core = PAIR_ANY;
		return true;
	}
	return take_number(text, CPU_MAX - 1, core);
}

const char *pairs_parse(struct pair_list *list, const char *text)
{
	const char *wanted = "up to 32 pairs of two different cores, as in 0>3,1>*";

	list->count = 0;
	for (;;) {
		uint8_t from;
		uint8_t to;

		if (list->count == PAIRS_MAX || !take_core(&text, &from) || *text++ != '>' ||
		    !take_core(&text, &to) || (from == to && from != PAIR_ANY)) {
			return wanted;
		}
		list->pairs[list->count].from = from;
		list->pairs[list->count].to = to;
		list->count++;
		if (*text == '\0') {
			return NULL;
		}
		if (*text++ != ',') {
			return wanted;
		}
	}
}

bool pairs_select(const struct pair_list *list, uint32_t from, uint32_t to)
{
	for (uint32_t i = 0; i < list->count; i++) {
		uint8_t one = list->pairs[i].from;
		uint8_t other = list->pairs[i].to;

		if ((one == PAIR_ANY || one == from) && (other == PAIR_ANY || other == to)) {
			return true;
		}
	}
	return list->count == 0;
}

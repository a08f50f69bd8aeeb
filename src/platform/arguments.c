/*
 * Boot arguments. The text comes from whoever booted us: any bytes, any length.
 */
#include "el1bench/arguments.h"

#include <stdio.h>
#include <string.h>

#define PREFIX "el1bench."
#define SHOWN 60 /* characters of a bad word that a refusal repeats */

#define WARMUP_MAX 1000000U
#define SLEEP_US_MIN 50U
#define SLEEP_US_MAX 1000000U
#define PACE_MIN 300U
#define PACE_MAX 4000000U
#define BAUD_MIN 9600
#define CLOCK_MS_MAX 600000U
#define CI_ONE_PERCENT 10000U
#define CI_PPM_MIN 100U
#define CI_PPM_MAX 500000U

/* One value of `key=value`; on a bad one, returns what would have been good. */
typedef const char *(*value_function)(struct arguments *arguments, const char *value);

void arguments_defaults(struct arguments *arguments)
{
	memset(arguments, 0, sizeof(*arguments));
	arguments->samples = 1000;
	arguments->warmup = 16;
	arguments->sleep_us = 1000;
	arguments->seed = 1;
	arguments->clock_ms = 700;
	arguments->budget_ms = 10000;
	arguments->dump_raw = true;
	arguments->on_exit = ON_EXIT_HALT;
}

/* Decimal, or hex after 0x; the whole word, and no more than `most`. */
static bool parse_number(const char *text, uint64_t least, uint64_t most, uint64_t *number)
{
	unsigned int base = 10;
	uint64_t value = 0;

	if (text[0] == '0' && text[1] == 'x') {
		base = 16;
		text += 2;
	}
	if (*text == '\0') {
		return false;
	}
	for (; *text != '\0'; text++) {
		unsigned int digit;

		if (*text >= '0' && *text <= '9') {
			digit = (unsigned int)(*text - '0');
		} else if (base == 16 && *text >= 'a' && *text <= 'f') {
			digit = (unsigned int)(*text - 'a') + 10;
		} else {
			return false;
		}
		if (value > (UINT64_MAX - digit) / base) {
			return false;
		}
		value = value * base + digit;
	}
	if (value < least || value > most) {
		return false;
	}
	*number = value;
	return true;
}

static bool name_character(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
}

static const char *set_suite(struct arguments *arguments, const char *value)
{
	char previous = ',';
	size_t length = strlen(value);

	if (length >= sizeof(arguments->suites)) {
		return "a list shorter than 256 characters";
	}
	for (const char *c = value; *c != '\0'; c++) {
		if (!name_character(*c) && (*c != ',' || previous == ',')) {
			return "comma-separated names";
		}
		previous = *c;
	}
	if (previous == ',') {
		return "comma-separated names";
	}
	memcpy(arguments->suites, value, length + 1);
	return NULL;
}

static const char *set_samples(struct arguments *arguments, const char *value)
{
	uint64_t number;

	arguments->samples_auto = strcmp(value, "auto") == 0;
	if (arguments->samples_auto) {
		return NULL;
	}
	if (!parse_number(value, 1, ARGUMENTS_SAMPLES_MAX, &number)) {
		return "auto or a number from 1 to 100000000";
	}
	arguments->samples = (uint32_t)number;
	arguments->samples_given = true;
	return NULL;
}

/* Per cent with up to four decimals: `1%`, `0.25%`. */
static const char *set_ci(struct arguments *arguments, const char *value)
{
	uint32_t ppm = 0;
	uint32_t unit = CI_ONE_PERCENT; /* of the next digit's place, above it */
	bool point = false;
	const char *c;

	for (c = value; (*c >= '0' && *c <= '9') || (*c == '.' && !point); c++) {
		if (*c == '.') {
			point = true;
		} else if (!point && ppm <= CI_PPM_MAX) {
			ppm = ppm * 10 + (uint32_t)(*c - '0') * CI_ONE_PERCENT;
		} else if (point) {
			unit /= 10;
			ppm += (uint32_t)(*c - '0') * unit;
		}
	}
	if (strcmp(c, "%") != 0 || ppm < CI_PPM_MIN || ppm > CI_PPM_MAX) {
		return "per cent from 0.01% to 50%";
	}
	arguments->ci_ppm = ppm;
	return NULL;
}

static const char *set_warmup(struct arguments *arguments, const char *value)
{
	uint64_t number;

	if (!parse_number(value, 0, WARMUP_MAX, &number)) {
		return "a number from 0 to 1000000";
	}
	arguments->warmup = (uint32_t)number;
	return NULL;
}

static const char *set_batch(struct arguments *arguments, const char *value)
{
	uint64_t number;

	if (!parse_number(value, 1, ARGUMENTS_BATCH_MAX, &number)) {
		return "a number from 1 to 65536";
	}
	arguments->batch = (uint32_t)number;
	return NULL;
}

static const char *set_seed(struct arguments *arguments, const char *value)
{
	return parse_number(value, 0, UINT64_MAX, &arguments->seed) ? NULL : "a number of 64 bits";
}

static const char *set_boot(struct arguments *arguments, const char *value)
{
	uint64_t number;

	if (!parse_number(value, 0, UINT32_MAX, &number)) {
		return "a number from 0 to 4294967295";
	}
	arguments->boot = (uint32_t)number;
	return NULL;
}

static const char *set_pace(struct arguments *arguments, const char *value)
{
	uint64_t number;

	if (!parse_number(value, PACE_MIN, PACE_MAX, &number)) {
		return "a baud rate from 300 to 4000000";
	}
	arguments->pace = (uint32_t)number;
	return NULL;
}

static const char *set_baud(struct arguments *arguments, const char *value)
{
	uint64_t number;

	if (!parse_number(value, BAUD_MIN, PACE_MAX, &number)) {
		return "a baud rate from 9600 to 4000000";
	}
	arguments->baud = (uint32_t)number;
	return NULL;
}

static const char *set_clock_ms(struct arguments *arguments, const char *value)
{
	uint64_t number;

	if (!parse_number(value, 0, CLOCK_MS_MAX, &number)) {
		return "a number from 0 to 600000";
	}
	arguments->clock_ms = (uint32_t)number;
	return NULL;
}

static const char *set_dump(struct arguments *arguments, const char *value)
{
	if (strcmp(value, "raw") != 0 && strcmp(value, "summary") != 0) {
		return "raw or summary";
	}
	arguments->dump_raw = strcmp(value, "raw") == 0;
	return NULL;
}

static const char *set_switch(bool *on, const char *value)
{
	*on = strcmp(value, "on") == 0;
	return *on || strcmp(value, "off") == 0 ? NULL : "on or off";
}

static const char *set_rt_instr(struct arguments *arguments, const char *value)
{
	return set_switch(&arguments->rt_instr, value);
}

static const char *set_watchdog(struct arguments *arguments, const char *value)
{
	return set_switch(&arguments->watchdog, value);
}

static const char *set_on_exit(struct arguments *arguments, const char *value)
{
	static const char *const names[] = {
		[ON_EXIT_OFF] = "off",
		[ON_EXIT_RESET] = "reset",
		[ON_EXIT_HALT] = "halt",
		[ON_EXIT_SEMIHOST] = "semihost",
	};

	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(value, names[i]) == 0) {
			arguments->on_exit = (enum on_exit)i;
			arguments->on_exit_given = true;
			return NULL;
		}
	}
	return "off, reset, halt or semihost";
}

static const char *set_emulated(struct arguments *arguments, const char *value)
{
	size_t length = strlen(value);

	if (length == 0 || length >= sizeof(arguments->emulated)) {
		return "a text of 1 to 63 characters";
	}
	memcpy(arguments->emulated, value, length + 1);
	return NULL;
}

static const char *set_pair(struct arguments *arguments, const char *value)
{
	return pairs_parse(&arguments->pairs, value);
}

static const char *set_budget(struct arguments *arguments, const char *value)
{
	uint64_t number;

	if (!parse_number(value, 1, ARGUMENTS_BUDGET_MAX, &number)) {
		return "milliseconds from 1 to 86400000";
	}
	arguments->budget_ms = (uint32_t)number;
	return NULL;
}

static const char *set_power_state(struct arguments *arguments, const char *value)
{
	static const char wanted[] = "one to three numbers of 32 bits, separated by commas";
	uint32_t count = 0;

	for (;;) {
		char item[24];
		size_t length = strcspn(value, ",");
		uint64_t number;

		if (length >= sizeof(item) || count == ARGUMENTS_POWER_STATES) {
			return wanted;
		}
		memcpy(item, value, length);
		item[length] = '\0';
		if (!parse_number(item, 0, UINT32_MAX, &number)) {
			return wanted;
		}
		arguments->power_states[count++] = (uint32_t)number;
		value += length;
		if (*value == '\0') {
			arguments->power_state_count = count;
			return NULL;
		}
		value++;
	}
}

static const char *set_sleep_us(struct arguments *arguments, const char *value)
{
	uint64_t number;

	if (!parse_number(value, SLEEP_US_MIN, SLEEP_US_MAX, &number)) {
		return "a number from 50 to 1000000";
	}
	arguments->sleep_us = (uint32_t)number;
	return NULL;
}

static const char *set_wake(struct arguments *arguments, const char *value)
{
	if (strcmp(value, "timer") != 0 && strcmp(value, "sgi") != 0) {
		return "timer or sgi";
	}
	arguments->wake = strcmp(value, "timer") == 0 ? WAKE_TIMER : WAKE_SGI;
	return NULL;
}

static const struct {
	const char *key;
	value_function set;
} keys[] = {
	{"suite", set_suite},       {"samples", set_samples},   {"warmup", set_warmup},
	{"seed", set_seed},         {"boot", set_boot},         {"dump", set_dump},
	{"on_exit", set_on_exit},   {"emulated", set_emulated}, {"batch", set_batch},
	{"pace", set_pace},         {"clock_ms", set_clock_ms}, {"ci", set_ci},
	{"pair", set_pair},         {"budget", set_budget},     {"power_state", set_power_state},
	{"sleep_us", set_sleep_us}, {"wake", set_wake},         {"baud", set_baud},
	{"rt_instr", set_rt_instr}, {"watchdog", set_watchdog},
};

#define KEYS (sizeof(keys) / sizeof(keys[0]))

/* The first refusal stands; later words are still obeyed, so that `on_exit` is. */
static void refuse(struct arguments *arguments, const char *word, const char *why,
		   const char *wanted)
{
	if (!arguments->refused) {
		arguments->refused = true;
		snprintf(arguments->refusal, sizeof(arguments->refusal), "%.*s: %s%s", SHOWN, word,
			 why, wanted);
	}
}

static bool is_key(const char *name, const char *key, size_t length)
{
	return strlen(name) == length && memcmp(name, key, length) == 0;
}

/* A factor's values, if that is what the word gives; then `wanted` says what is wrong with them. */
static bool set_factor(struct arguments *arguments, const char *key, size_t length,
		       const char *values, const char **wanted)
{
	for (uint32_t i = 0; i < FACTORS; i++) {
		enum factor factor = (enum factor)i;

		if (is_key(factor_name(factor), key, length)) {
			*wanted = values == NULL
					  ? "a value"
					  : factor_parse(&arguments->factors, factor, values);
			return true;
		}
	}
	return false;
}

/* A word within the prefix, `key=value`, NUL-terminated. */
static void parse_own_word(struct arguments *arguments, char *word)
{
	char *key = word + strlen(PREFIX);
	char *equals = strchr(key, '=');
	size_t length = equals == NULL ? strlen(key) : (size_t)(equals - key);
	const char *values = equals == NULL ? NULL : equals + 1;
	const char *wanted = NULL;
	bool printable = true;

	for (char *c = word; *c != '\0'; c++) {
		if (*c <= ' ' || *c > '~') {
			*c = '?';
			printable = false;
		}
	}
	if (!printable) {
		refuse(arguments, word, "unprintable characters", "");
		return;
	}
	if (!set_factor(arguments, key, length, values, &wanted)) {
		size_t i = 0;

		while (i < KEYS && !is_key(keys[i].key, key, length)) {
			i++;
		}
		if (i == KEYS) {
			refuse(arguments, word, "unknown argument", "");
			return;
		}
		wanted = values == NULL ? "a value" : keys[i].set(arguments, values);
	}
	if (wanted != NULL) {
		refuse(arguments, word, "needs ", wanted);
	}
}

/* Adds a word to the list of foreign ones, cut to fit, printable. */
static void ignore_word(struct arguments *arguments, const char *word)
{
	size_t used = strlen(arguments->ignored);

	if (used > 0 && used + 1 < sizeof(arguments->ignored)) {
		arguments->ignored[used++] = ' ';
	}
	for (; *word != '\0' && used + 1 < sizeof(arguments->ignored); word++) {
		arguments->ignored[used++] = *word > ' ' && *word <= '~' ? *word : '?';
	}
	arguments->ignored[used] = '\0';
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}

/* Cuts the first word off `*text` and appends it to arguments->text; NULL at the end. */
static char *next_word(struct arguments *arguments, const char **text, size_t *used)
{
	char *word;
	size_t length = 0;

	while (is_space(**text)) {
		(*text)++;
	}
	if (**text == '\0') {
		return NULL;
	}
	while ((*text)[length] != '\0' && !is_space((*text)[length])) {
		length++;
	}
	if (*used + (*used > 0) + length >= sizeof(arguments->text)) {
		refuse(arguments, "boot arguments", "longer than 2047 characters", "");
		return NULL;
	}
	if (*used > 0) {
		arguments->text[(*used)++] = ' ';
	}
	word = arguments->text + *used;
	memcpy(word, *text, length);
	word[length] = '\0';
	*used += length;
	*text += length;
	return word;
}

void arguments_parse(struct arguments *arguments, const char *text)
{
	size_t used = strlen(arguments->text);
	const char *conflict;
	char *word;

	while ((word = next_word(arguments, &text, &used)) != NULL) {
		if (strncmp(word, PREFIX, strlen(PREFIX)) == 0) {
			parse_own_word(arguments, word);
		} else {
			ignore_word(arguments, word);
		}
	}
	conflict = factors_conflict(&arguments->factors);
	if (conflict != NULL) {
		refuse(arguments, "boot arguments", conflict, "");
	}
}

bool arguments_selects(const struct arguments *arguments, const char *name)
{
	const char *item = arguments->suites;
	size_t suite_length = strcspn(name, ".");
	size_t name_length = strlen(name);

	if (*item == '\0') {
		return true;
	}
	for (;;) {
		size_t length = strcspn(item, ",");

		if ((length == name_length || length == suite_length) &&
		    memcmp(item, name, length) == 0) {
			return true;
		}
		if (item[length] == '\0') {
			return false;
		}
		item += length + 1;
	}
}

/*
 * Rounds between any two cores, under any combination of factors. Core 0 arranges them: it sends or
 * receives itself, or sleeps in WFI while two others do. Timed code, core 0.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "el1bench/benchmark.h"
#include "el1bench/factors.h"

#define PAIR_ROUNDS 8 /* at most, in one visit to a pair */

enum pair_kind {
	PAIR_INTERRUPT, /* an SGI and its acknowledgement */
	PAIR_LINE,      /* a cache line written, another one written in answer; both sides poll */
	PAIR_EVENT,     /* the same with SEV; both sides wait in WFE */
};

struct pair {
	enum pair_kind kind;
	uint32_t sender; /* cores, by index; two different ones */
	uint32_t receiver;
	struct factor_set factors; /* PAIR_INTERRUPT only */
};

struct pair_round {
	uint64_t begin; /* sender, before the send */
	uint64_t stamp; /* receiver's vector stub; PAIR_INTERRUPT only */
	uint64_t end;   /* sender, after it has seen the answer */
};

/* Before timing: makes room and lets through what rounds need. False after benchmark_skip. */
bool pair_prepare(struct benchmark_run *run);

/* Why a combination cannot be measured here, or NULL. Before timing. */
const char *pair_obstacle(const struct factor_set *factors);

/*
 * A visit to a pair: one round that is not recorded, then `count` (at most PAIR_ROUNDS) that are,
 * each after a gap of random length. Returns them, or NULL after benchmark_fail.
 */
const struct pair_round *pair_visit(struct benchmark_run *run, const struct pair *pair,
				    uint32_t count);

/* Cache lines of payload that receivers have verified since the start. */
uint64_t pair_lines_verified(void);

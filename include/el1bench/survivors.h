/*
 * Samples that outlive a reset. With watchdog=on the start of the arena says, for the next boot,
 * which rows of the sample store are finished and where in memory they are; checksums and the
 * image's build say whether it still holds. All of it is written back to memory unit by unit,
 * between benchmarks. Core 0.
 *
 * Addresses in it are good in the next boot: the image is linked at one address, and the same image
 * on the same machine finds the arena at the same place.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "el1bench/arguments.h"

enum survivors_state {
	SURVIVORS_NONE,
	SURVIVORS_SPOILT, /* there were some, but a checksum does not match; or another image's */
	SURVIVORS_WHOLE,
};

/* Of the boot that left samples. Benchmarks count in the order of that boot. */
struct survivors_boot {
	uint64_t seed;
	uint64_t entry_stamp;
	uint32_t boot;
	uint32_t benchmarks;
	uint32_t finished;
	char arguments[ARGUMENTS_TEXT_BYTES];
};

/*
 * Looks for samples of an earlier boot: before anything has been taken from the arena. What it
 * takes is to be given back with arena_release, unless survivors_keep follows.
 */
enum survivors_state survivors_look(void);

/*
 * After SURVIVORS_WHOLE: makes them the content of the sample store and of the engine's list of
 * runs, until the next plan, and says whose they are.
 */
const struct survivors_boot *survivors_adopt(void);

/* From now on memory holds nothing for the next boot. */
void survivors_forget(void);

/* Takes the memory for this boot's own: the first that is taken from the arena. */
void survivors_keep(void);

/* After planning, with all rows open. False if memory does not suffice. */
bool survivors_begin(void);

/* A unit of the plan has been measured; after its last sample, before the next unit's first. */
void survivors_save(uint32_t unit);

/*
 * Marks code that runs while timing. It lives in a section of its own, so that what is reachable
 * from it can be checked and so that its placement does not move with the rest of the image.
 */
#pragma once

#define TIMED __attribute__((section(".text.timed"), noinline))

/* For small helpers: always part of their caller. */
#define TIMED_INLINE static inline __attribute__((always_inline))

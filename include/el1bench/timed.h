/*
 * Marks code that runs while timing. It lives in a section of its own, so that what is reachable
 * from it can be checked and so that its placement does not move with the rest of the image.
 */
#pragma once

#define TIMED __attribute__((section(".text.timed"), noinline))

/*
 * The same for code that runs between intervals only, never within one: it is made small instead
 * of fast, and so is all of a source that holds no other timed code.
 */
#define TIMED_BETWEEN __attribute__((section(".text.timed"), noinline, cold))

/* In a source that holds timed code: made small instead of fast. */
#define UNTIMED __attribute__((cold))

/*
 * A light handler for interrupts (gic.h): timed code that changes no registers but x0 to x2 and
 * calls nothing, so that the interrupt need not save more. Its `source` argument means nothing. It
 * stands in a source of its own, which is compiled with the flags that make it so, and
 * check_image.py looks at what came out.
 */
#define INTERRUPT_HANDLER __attribute__((section(".text.timed.light"), noinline))

/* For small helpers: always part of their caller. */
#define TIMED_INLINE static inline __attribute__((always_inline))

/*
 * The end of a run that cannot go on: an unexpected exception or a broken invariant. Prints
 * registers, symbol and running benchmark, then what was measured so far, the trailer with
 * status=failed, and ends as `on_exit` says. Any core; a second panic on the way stops at once.
 */
#pragma once

#include "el1bench/exception.h"

void panic_exception(const struct exception_frame *frame) __attribute__((noreturn));
void panic(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

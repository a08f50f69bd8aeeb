/*
 * Ways to end. Core 0 (or the panicking core).
 */
#pragma once

#include "el1bench/arguments.h"
#include "el1bench/report.h"

/*
 * Drains the console, stops the watchdog unless a reset is to come, and ends as told: power off,
 * reset, halt in WFI, or a semihosting exit with 0 passed, 1 failed, 2 refused. Where PSCI or
 * semihosting does not answer: semihosting falls back to power off, and everything to a halt.
 */
void exit_image(enum on_exit how, enum run_status status) __attribute__((noreturn));

/*
 * For when there is no console: writes `text` through semihosting if that is there and exits with
 * 1, else halts.
 */
void exit_without_console(const char *text) __attribute__((noreturn));

/*
 * The image's main program.
 */
#pragma once

#include "el1bench/arguments.h"

/*
 * Everything from the device tree to the end of the run. Called once by the entry code on the core
 * that booted: EL1, MMU on, interrupts masked, `boot_record` filled.
 */
void image_main(void) __attribute__((noreturn));

/* The boot arguments, defaults before they are read: for the exception report. Any core. */
const struct arguments *image_arguments(void);

/*
 * Stands in for include/el1bench/sysreg.h in host tests: system registers by name, answered by the
 * test's model.
 */
#pragma once

#include <stdint.h>

uint64_t fake_sysreg_read(const char *name);
void fake_sysreg_write(const char *name, uint64_t value);

#define SYSREG_READ(name) fake_sysreg_read(#name)
#define SYSREG_WRITE(name, value) fake_sysreg_write(#name, value)

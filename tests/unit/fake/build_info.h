/* Stands in for the build's own header in host tests. */
#pragma once

#define EL1BENCH_BUILD_ID "0123456789abcdef"

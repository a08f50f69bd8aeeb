# Warnings for all of our C, on the target and on the host.
set(EL1BENCH_WARNINGS
  -Wall -Wextra -Wundef -Wconversion -Wshadow -Wmissing-prototypes -Wstrict-prototypes
  -Wcast-qual -Wvla -Wimplicit-fallthrough -Werror=implicit-function-declaration)
if(EL1BENCH_WERROR)
  list(APPEND EL1BENCH_WARNINGS -Werror)
endif()

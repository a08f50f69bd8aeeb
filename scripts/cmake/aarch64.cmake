# Toolchain: Debian's gcc-aarch64-linux-gnu, used for a freestanding image.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)

set(EL1BENCH_TOOL_PREFIX aarch64-linux-gnu- CACHE STRING "Prefix of the cross tools")
set(CMAKE_C_COMPILER ${EL1BENCH_TOOL_PREFIX}gcc)
set(CMAKE_ASM_COMPILER ${EL1BENCH_TOOL_PREFIX}gcc)

# The same tree gives the same bytes on every machine: flags come from here and nowhere else.
unset(ENV{CFLAGS})
unset(ENV{ASMFLAGS})
unset(ENV{LDFLAGS})
set(CMAKE_BUILD_TYPE "" CACHE STRING "" FORCE)

# newlib and libfdt, from the cache that `scripts/el1bench setup` fills. It is asked for them unless
# EL1BENCH_NEWLIB (a folder with include and lib) and EL1BENCH_LIBFDT (likewise) are given.
set(EL1BENCH_NEWLIB "" CACHE PATH "newlib's folder, with include/ and lib/")
set(EL1BENCH_LIBFDT "" CACHE PATH "libfdt's folder, with include/ and lib/")

if(NOT EL1BENCH_NEWLIB OR NOT EL1BENCH_LIBFDT)
  execute_process(
    COMMAND ${PROJECT_SOURCE_DIR}/scripts/el1bench setup --only build --print
    OUTPUT_VARIABLE paths RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "`scripts/el1bench setup --only build` failed")
  endif()
  string(REGEX MATCH "newlib=([^\n]+)" ignored "${paths}")
  set(EL1BENCH_NEWLIB "${CMAKE_MATCH_1}" CACHE PATH "" FORCE)
  string(REGEX MATCH "libfdt=([^\n]+)" ignored "${paths}")
  set(EL1BENCH_LIBFDT "${CMAKE_MATCH_1}" CACHE PATH "" FORCE)
endif()

# Debian's package keeps the archive in a folder named after the architecture.
file(GLOB libfdt_archive ${EL1BENCH_LIBFDT}/lib/libfdt.a ${EL1BENCH_LIBFDT}/lib/*/libfdt.a)
foreach(file ${EL1BENCH_NEWLIB}/lib/libc.a ${EL1BENCH_NEWLIB}/include/stdio.h
    "${libfdt_archive}" ${EL1BENCH_LIBFDT}/include/libfdt.h)
  if(NOT EXISTS "${file}")
    message(FATAL_ERROR "newlib or libfdt is not complete (${file}); run `scripts/el1bench setup`")
  endif()
endforeach()

# GCC's own headers come first: newlib's <stdatomic.h> does not suit it. Nothing else is searched.
execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=include
  OUTPUT_VARIABLE gcc_include OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)

add_library(target_libraries INTERFACE)
target_compile_options(target_libraries INTERFACE
  -nostdinc
  "SHELL:-isystem ${gcc_include}"
  "SHELL:-isystem ${EL1BENCH_NEWLIB}/include"
  "SHELL:-isystem ${EL1BENCH_LIBFDT}/include")
target_link_libraries(target_libraries INTERFACE
  -Wl,--start-group ${libfdt_archive} ${EL1BENCH_NEWLIB}/lib/libc.a gcc
  -Wl,--end-group)

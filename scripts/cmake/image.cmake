# The image: all of src/, linked twice (the second time with the symbol table of the first), checked
# and packed into the raw Image that boot loaders take.
#
# Leaves in the build folder: image (raw, packed), image.plain (raw, as linked), image.elf,
# image.map.

set(EL1BENCH_PYTHON /usr/bin/python3 CACHE FILEPATH "Python 3 for the build's own scripts")
set(generated ${PROJECT_BINARY_DIR}/generated)
set(linker_script ${generated}/image.ld)
set(cmake_scripts ${PROJECT_SOURCE_DIR}/scripts/cmake)

file(GLOB_RECURSE image_sources CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/src/*.c ${PROJECT_SOURCE_DIR}/src/*.S)
set(unpacker_source ${PROJECT_SOURCE_DIR}/src/boot/packed/unpack.S)
list(REMOVE_ITEM image_sources ${unpacker_source})
list(FILTER image_sources EXCLUDE REGEX "/src/programs/")
file(GLOB_RECURSE image_headers CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/src/*.h ${PROJECT_SOURCE_DIR}/include/*.h)

# Files with faults that tests must find: tests/plants/<name>.c for each name.
foreach(name ${EL1BENCH_PLANT})
  set(plant ${PROJECT_SOURCE_DIR}/tests/plants/${name}.c)
  if(NOT EXISTS ${plant})
    message(FATAL_ERROR "EL1BENCH_PLANT has `${name}`; there is no ${plant}")
  endif()
  list(APPEND image_sources ${plant})
endforeach()

include(programs)

set(code_flags
  -std=gnu11 -O2 -mcpu=cortex-a53 -mgeneral-regs-only -mstrict-align -mno-outline-atomics
  -fno-pic -fno-pie -mcmodel=tiny -fno-stack-protector -fno-asynchronous-unwind-tables
  -ffunction-sections -fdata-sections)

# Our own code leaves these registers alone, so that an interrupt need not save them
# (src/boot/interrupt.S); the libraries use them, and are never called from interrupts. x16 and x17
# are not among them: the compiler takes those for indirect tail calls whatever it is told.
# check_image.py looks at timed code.
foreach(register 9 10 11 12 13 14 15 18)
  list(APPEND code_flags -ffixed-x${register})
endforeach()

# What the sources say of the build. The build id is a hash of everything that goes into the image,
# so two builds of one tree carry the same one.
list(JOIN code_flags " " code_flags_text)
set(small_flags -Os -fno-schedule-insns -fno-schedule-insns2)
list(JOIN small_flags " " small_flags_text)
string(APPEND code_flags_text " (${small_flags_text} where no interval runs through)")
get_filename_component(newlib_key ${EL1BENCH_NEWLIB} DIRECTORY)
get_filename_component(newlib_key ${newlib_key} NAME)
string(REGEX REPLACE "^newlib-" "" newlib_key ${newlib_key})
execute_process(COMMAND ${CMAKE_C_COMPILER} --version
  OUTPUT_VARIABLE compiler_version COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCH "^[^\n]*" compiler_version "${compiler_version}")
add_custom_command(
  OUTPUT ${generated}/build_info.h
  COMMAND ${EL1BENCH_PYTHON} ${cmake_scripts}/build_info.py
    --output ${generated}/build_info.h --root ${PROJECT_SOURCE_DIR}
    --set VERSION=${PROJECT_VERSION} --set BOARD=${EL1BENCH_BOARD}
    --set COMPILER=${compiler_version} --set FLAGS=${code_flags_text} --set NEWLIB=${newlib_key}
    --outside ${libfdt_archive} --outside ${EL1BENCH_NEWLIB}/lib/libc.a
    ${image_sources} ${image_headers} ${program_sources}
    ${PROJECT_SOURCE_DIR}/linker/image.ld.S ${unpacker_source} ${cmake_scripts}/pack.py
    ${BOARD_FOLDER}/board.cmake ${BOARD_FOLDER}/board.dts
  DEPENDS ${cmake_scripts}/build_info.py ${image_sources} ${image_headers} ${program_sources}
    ${PROJECT_SOURCE_DIR}/linker/image.ld.S ${BOARD_FOLDER}/board.cmake ${BOARD_FOLDER}/board.dts
    ${libfdt_archive} ${EL1BENCH_NEWLIB}/lib/libc.a ${unpacker_source} ${cmake_scripts}/pack.py
  VERBATIM)
add_custom_target(build_info DEPENDS ${generated}/build_info.h)

file(CONFIGURE OUTPUT ${generated}/embedded_tree.S @ONLY CONTENT [[
/* The board's own tree, for when no other reaches the image. */
	.section .rodata.embedded_tree, "a"
	.balign 8
	.global embedded_tree
embedded_tree:
	.incbin "board.dtb"
	.global embedded_tree_end
embedded_tree_end:
]])
set_source_files_properties(${generated}/embedded_tree.S PROPERTIES OBJECT_DEPENDS ${BOARD_TREE})

# Flags that all code for the target shares.
add_library(target_flags INTERFACE)
# The call graphs are for the audit.
target_compile_options(target_flags INTERFACE
  $<$<COMPILE_LANGUAGE:C>:-fcallgraph-info=su>
  -ffile-prefix-map=${PROJECT_BINARY_DIR}=build
  -ffile-prefix-map=${PROJECT_SOURCE_DIR}=.
  -ffile-prefix-map=${EL1BENCH_NEWLIB}=newlib
  -ffile-prefix-map=${EL1BENCH_LIBFDT}=libfdt
  -g
  $<$<COMPILE_LANGUAGE:C>:${code_flags}>
  $<$<COMPILE_LANGUAGE:C>:${EL1BENCH_WARNINGS}>
  $<$<COMPILE_LANGUAGE:ASM>:-mcpu=cortex-a53>)
target_include_directories(target_flags INTERFACE
  ${PROJECT_SOURCE_DIR}/include ${generated})
target_compile_definitions(target_flags INTERFACE
  $<$<COMPILE_LANGUAGE:ASM>:IMAGE_TEXT_OFFSET=${BOARD_TEXT_OFFSET}>
  $<$<COMPILE_LANGUAGE:ASM>:IMAGE_FLAGS=${BOARD_IMAGE_FLAGS}>)
add_library(image_objects OBJECT ${image_sources} ${generated}/embedded_tree.S
  ${generated}/programs.S)
target_include_directories(image_objects PRIVATE ${PROJECT_BINARY_DIR})
target_link_libraries(image_objects PRIVATE target_flags target_libraries)
add_dependencies(image_objects build_info)

# What no interval runs through is made small instead of fast; in the order that it was written in,
# it also packs better. Sources are looked at again when they change, so that marking a function
# TIMED is all it takes.
foreach(source ${image_sources})
  file(STRINGS ${source} timed REGEX "^TIMED |TIMED_INLINE|INTERRUPT_HANDLER" LIMIT_COUNT 1)
  if(source MATCHES "\\.c$" AND NOT timed)
    set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS ${small_flags})
  endif()
  # Interrupts save x0 to x2 and x30 for light handlers, and nothing else (src/boot/interrupt.S).
  file(STRINGS ${source} light REGEX "^INTERRUPT_HANDLER" LIMIT_COUNT 1)
  if(light)
    foreach(register 3 4 5 6 7 8)
      set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS -fcall-saved-x${register})
    endforeach()
    set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS
      -ffixed-x16 -ffixed-x17 -fno-optimize-sibling-calls)
  endif()
endforeach()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${image_sources})

# One instruction reaches anything within 1 MiB (-mcmodel=tiny); the end of the image, behind page
# tables and stacks, is further away.
set_property(
  SOURCE ${PROJECT_SOURCE_DIR}/src/arch/mmu.c ${PROJECT_SOURCE_DIR}/src/arch/mmu_early.c
  APPEND PROPERTY COMPILE_OPTIONS -mcmodel=small)

# Runs at physical addresses with the MMU off: no library calls, no tables of absolute addresses.
set_property(
  SOURCE ${PROJECT_SOURCE_DIR}/src/arch/mmu_early.c ${PROJECT_SOURCE_DIR}/src/arch/mmu_tables.c
  APPEND PROPERTY COMPILE_OPTIONS
  -fno-builtin -fno-tree-loop-distribute-patterns -fno-jump-tables)

add_custom_command(
  OUTPUT ${linker_script}
  COMMAND ${CMAKE_C_COMPILER} -E -P -x assembler-with-cpp
    -I ${PROJECT_SOURCE_DIR}/include -DLOAD_ADDRESS=${BOARD_LOAD_ADDRESS}
    -o ${linker_script} ${PROJECT_SOURCE_DIR}/linker/image.ld.S
  DEPENDS ${PROJECT_SOURCE_DIR}/linker/image.ld.S ${PROJECT_SOURCE_DIR}/include/el1bench/mmu.h
  VERBATIM)
add_custom_target(linker_script DEPENDS ${linker_script})

# Links the image with the given symbol table into <name>, with a map of it in <map>.
function(add_image name map symbols)
  add_executable(${name} $<TARGET_OBJECTS:image_objects> ${symbols})
  set_target_properties(${name} PROPERTIES
    LINK_DEPENDS ${linker_script} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  target_link_libraries(${name} PRIVATE target_flags target_libraries)
  target_link_options(${name} PRIVATE
    -nostdlib -static -no-pie -T ${linker_script}
    -Wl,--gc-sections -Wl,--build-id=none -Wl,--fatal-warnings -Wl,--orphan-handling=error
    -Wl,-z,max-page-size=4096 -Wl,-z,noexecstack -Wl,-Map=${PROJECT_BINARY_DIR}/${map})
  add_dependencies(${name} linker_script)
endfunction()

add_custom_command(
  OUTPUT ${generated}/no_symbols.S
  COMMAND ${EL1BENCH_PYTHON} ${cmake_scripts}/symbols.py --output ${generated}/no_symbols.S
  DEPENDS ${cmake_scripts}/symbols.py
  VERBATIM)
add_image(first_pass.elf first_pass.map ${generated}/no_symbols.S)

add_custom_command(
  OUTPUT ${generated}/symbols.S
  COMMAND ${EL1BENCH_PYTHON} ${cmake_scripts}/symbols.py --nm ${CMAKE_NM}
    --output ${generated}/symbols.S $<TARGET_FILE:first_pass.elf>
  DEPENDS ${cmake_scripts}/symbols.py first_pass.elf
  VERBATIM)
add_image(image.elf image.map ${generated}/symbols.S)

# The audit is to find a planted fault when it is asked, not to keep it from being built.
set(audit_command)
if(EL1BENCH_AUDIT AND NOT EL1BENCH_PLANT)
  set(audit_command COMMAND ${PROJECT_SOURCE_DIR}/scripts/el1bench audit --quiet
    --elf $<TARGET_FILE:image.elf>)
endif()
file(GLOB audit_files CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/scripts/el1bench_host/audit.py
  ${PROJECT_SOURCE_DIR}/scripts/el1bench_host/auditing/*.py)

add_custom_command(
  OUTPUT ${PROJECT_BINARY_DIR}/image.plain
  COMMAND ${EL1BENCH_PYTHON} ${cmake_scripts}/check_image.py --nm ${CMAKE_NM}
    --readelf ${CMAKE_READELF} --objdump ${CMAKE_OBJDUMP}
    --first-pass $<TARGET_FILE:first_pass.elf> $<TARGET_FILE:image.elf>
  ${audit_command}
  COMMAND ${CMAKE_OBJCOPY} -O binary $<TARGET_FILE:image.elf> ${PROJECT_BINARY_DIR}/image.plain
  DEPENDS ${cmake_scripts}/check_image.py image.elf first_pass.elf
    ${PROJECT_SOURCE_DIR}/src/audit.toml ${audit_files}
  COMMENT "Checking the image"
  VERBATIM)

# Boot loaders get the image packed: less to send, and some lose packets.
add_executable(unpacker.elf ${unpacker_source})
set_target_properties(unpacker.elf PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${generated})
target_link_libraries(unpacker.elf PRIVATE target_flags)
target_link_options(unpacker.elf PRIVATE -nostdlib -static -no-pie -Wl,-Ttext=0
  -Wl,-e,packed_header -Wl,--build-id=none -Wl,--fatal-warnings -Wl,-z,noexecstack)
add_custom_command(
  OUTPUT ${PROJECT_BINARY_DIR}/image
  COMMAND ${CMAKE_OBJCOPY} -O binary -j .text $<TARGET_FILE:unpacker.elf> ${generated}/unpacker
  COMMAND ${EL1BENCH_PYTHON} ${cmake_scripts}/pack.py --nm ${CMAKE_NM}
    --elf $<TARGET_FILE:image.elf> --unpacker ${generated}/unpacker
    --image ${PROJECT_BINARY_DIR}/image.plain --output ${PROJECT_BINARY_DIR}/image
  DEPENDS ${cmake_scripts}/pack.py unpacker.elf ${PROJECT_BINARY_DIR}/image.plain
  COMMENT "Writing build/${EL1BENCH_BOARD}/image"
  VERBATIM)
add_custom_target(raw_image ALL DEPENDS ${PROJECT_BINARY_DIR}/image)

# Reads boards/<board>/board.cmake, compiles the board's tree, and writes board.json for the host
# tool: the load address and the QEMU line.
file(GLOB board_files RELATIVE ${PROJECT_SOURCE_DIR}/boards
  CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/boards/*/board.cmake)
list(TRANSFORM board_files REPLACE "/board.cmake$" "" OUTPUT_VARIABLE board_names)
if(NOT EL1BENCH_BOARD IN_LIST board_names)
  list(JOIN board_names ", " board_names)
  message(FATAL_ERROR "EL1BENCH_BOARD is `${EL1BENCH_BOARD}`; boards are: ${board_names}")
endif()

set(BOARD_FOLDER ${PROJECT_SOURCE_DIR}/boards/${EL1BENCH_BOARD})
include(${BOARD_FOLDER}/board.cmake)
foreach(name DESCRIPTION LOAD_ADDRESS TEXT_OFFSET IMAGE_FLAGS)
  if(NOT DEFINED BOARD_${name})
    message(FATAL_ERROR "boards/${EL1BENCH_BOARD}/board.cmake does not set BOARD_${name}")
  endif()
endforeach()

# The tree, as a file for -dtb, and as data of the image.
find_program(DTC dtc REQUIRED)
set(BOARD_TREE ${PROJECT_BINARY_DIR}/board.dtb)
add_custom_command(
  OUTPUT ${BOARD_TREE}
  COMMAND ${CMAKE_COMMAND} -DDTC=${DTC} -DSOURCE=${BOARD_FOLDER}/board.dts -DOUTPUT=${BOARD_TREE}
    -P ${PROJECT_SOURCE_DIR}/scripts/cmake/compile_tree.cmake
  DEPENDS ${BOARD_FOLDER}/board.dts ${PROJECT_SOURCE_DIR}/scripts/cmake/compile_tree.cmake
  COMMENT "Compiling the tree of ${EL1BENCH_BOARD}"
  VERBATIM)

# Sets `variable` to a JSON list of the strings (or, with NUMBERS, the numbers) that follow.
function(board_json_list variable kind)
  if(kind STREQUAL NUMBERS)
    list(JOIN ARGN ", " joined)
  else()
    list(TRANSFORM ARGN REPLACE "(.+)" "\"\\1\"" OUTPUT_VARIABLE quoted)
    list(JOIN quoted ", " joined)
  endif()
  set(${variable} "[${joined}]" PARENT_SCOPE)
endfunction()

# Sets `variable` to a JSON member "key": value followed by a comma, or to nothing without a value.
function(board_json_optional variable key value)
  set(${variable} "" PARENT_SCOPE)
  if(NOT value STREQUAL "")
    set(${variable} "\n    \"${key}\": ${value}," PARENT_SCOPE)
  endif()
endfunction()

function(board_write_json)
  board_json_list(machine_options STRINGS ${BOARD_QEMU_MACHINE_OPTIONS})
  board_json_list(options STRINGS ${BOARD_QEMU_OPTIONS})
  board_json_list(gics NUMBERS ${BOARD_QEMU_GICS})
  board_json_list(levels NUMBERS ${BOARD_QEMU_LEVELS})
  set(quoted_cpu "")
  if(DEFINED BOARD_QEMU_CPU)
    set(quoted_cpu "\"${BOARD_QEMU_CPU}\"")
  endif()
  set(quoted_tree "")
  if(BOARD_QEMU_NEEDS_TREE)
    set(quoted_tree "\"board.dtb\"")
  endif()
  set(quoted_address "")
  if(DEFINED BOARD_QEMU_FIRMWARE_LOAD_ADDRESS)
    set(quoted_address "\"${BOARD_QEMU_FIRMWARE_LOAD_ADDRESS}\"")
  endif()
  board_json_optional(cpu cpu "${quoted_cpu}")
  board_json_optional(cores cores "${BOARD_QEMU_CORES}")
  board_json_optional(tree tree "${quoted_tree}")
  board_json_optional(firmware_load_address firmware_load_address "${quoted_address}")
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/board.json @ONLY CONTENT [[
{
  "board": "@EL1BENCH_BOARD@",
  "description": "@BOARD_DESCRIPTION@",
  "load_address": "@BOARD_LOAD_ADDRESS@",
  "qemu": {
    "machine": "@BOARD_QEMU_MACHINE@",
    "machine_options": @machine_options@,@cpu@@cores@@tree@@firmware_load_address@
    "gics": @gics@,
    "levels": @levels@,
    "memory_mib": @BOARD_QEMU_MEMORY_MIB@,
    "options": @options@
  }
}
]])
endfunction()
board_write_json()

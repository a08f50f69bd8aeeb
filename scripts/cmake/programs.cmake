# The programs that run at EL0: each folder of src/programs becomes an ELF file, stripped of all
# that the loader does not read, which the image carries in its constants.

file(GLOB_RECURSE program_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/programs/*)
set(program_folder ${PROJECT_SOURCE_DIR}/src/programs)

# Adds a program; ${name}_program and ${name}_program_end are its file's bounds in the image.
function(add_program name)
  add_executable(program_${name}
    ${program_folder}/start.S ${program_folder}/${name}/${name}.c ${ARGN})
  target_link_libraries(program_${name} PRIVATE program_flags)
  set_target_properties(program_${name} PROPERTIES LINK_DEPENDS ${program_folder}/program.ld)
  add_custom_command(
    OUTPUT ${generated}/${name}.program
    COMMAND ${EL1BENCH_PYTHON} ${cmake_scripts}/strip_program.py
      $<TARGET_FILE:program_${name}> ${generated}/${name}.program
    DEPENDS program_${name} ${cmake_scripts}/strip_program.py
    VERBATIM)
  file(APPEND ${generated}/programs.S.in "
	.balign 8
	.global ${name}_program, ${name}_program_end
${name}_program:
	.incbin \"generated/${name}.program\"
${name}_program_end:
")
  set_property(SOURCE ${generated}/programs.S APPEND PROPERTY
    OBJECT_DEPENDS ${generated}/${name}.program)
endfunction()

# The image's own flags, but for what serves the kernel: small, and no registers set apart.
add_library(program_flags INTERFACE)
target_compile_options(program_flags INTERFACE
  -ffile-prefix-map=${PROJECT_SOURCE_DIR}=.
  $<$<COMPILE_LANGUAGE:C>:-std=gnu11 -Os -mcpu=cortex-a53 -mgeneral-regs-only -ffreestanding
    -fno-pic -fno-pie -mcmodel=small -fno-stack-protector -fno-asynchronous-unwind-tables
    -fno-jump-tables -fno-tree-loop-distribute-patterns ${EL1BENCH_WARNINGS}>)
target_include_directories(program_flags INTERFACE ${PROJECT_SOURCE_DIR}/include)
target_link_options(program_flags INTERFACE
  -nostdlib -static -no-pie -T ${program_folder}/program.ld
  -Wl,--nmagic -Wl,--build-id=none -Wl,--fatal-warnings)

file(WRITE ${generated}/programs.S.in
  "/* Generated: the EL0 programs. */\n\t.section .rodata.programs, \"a\"\n")
add_program(hello)
add_program(tracker ${PROJECT_SOURCE_DIR}/src/process/model.c)
file(COPY_FILE ${generated}/programs.S.in ${generated}/programs.S ONLY_IF_DIFFERENT)

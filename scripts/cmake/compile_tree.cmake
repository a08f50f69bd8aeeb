# cmake -DDTC=... -DSOURCE=x.dts -DOUTPUT=x.dtb -P compile_tree.cmake
# Compiles a device tree; a warning is an error.
execute_process(COMMAND ${DTC} -I dts -O dtb -o ${OUTPUT} ${SOURCE}
  RESULT_VARIABLE status ERROR_VARIABLE complaints)
if(NOT status EQUAL 0 OR NOT complaints STREQUAL "")
  file(REMOVE ${OUTPUT})
  message(FATAL_ERROR "dtc on ${SOURCE}:\n${complaints}")
endif()

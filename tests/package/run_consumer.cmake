# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Tests a user's project from scratch: installs devplace if the project uses an installed devplace, then configures,
# builds and runs the project.
file(REMOVE_RECURSE ${WORK})
if(FROM STREQUAL "find_package")
  execute_process(COMMAND ${CMAKE_COMMAND} --install ${DEVPLACE_BUILD} --prefix ${WORK}/prefix OUTPUT_QUIET
                  COMMAND_ERROR_IS_FATAL ANY)
endif()

set(configure ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${WORK}/build -G ${GENERATOR} "${SETTINGS}")
if(EXPECT)
  execute_process(COMMAND ${CMAKE_COMMAND} -DEXPECT=${EXPECT} -DWRAPPED=1 -P
                          ${CMAKE_CURRENT_LIST_DIR}/../support/expect_failure.cmake -- ${configure}
                  COMMAND_ERROR_IS_FATAL ANY)
  return()
endif()
execute_process(COMMAND ${configure} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK}/build COMMAND_ERROR_IS_FATAL ANY)
set(ran 0)
foreach(program IN ITEMS plain simulated processes program/on_gpu)
  if(EXISTS ${WORK}/build/${program})
    math(EXPR ran "${ran} + 1")
    execute_process(COMMAND ${WORK}/build/${program} COMMAND_ERROR_IS_FATAL ANY)
  endif()
endforeach()
if(ran EQUAL 0)
  message(FATAL_ERROR "The consumer has built no program.")
endif()

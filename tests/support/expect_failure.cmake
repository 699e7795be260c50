# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# cmake -DEXPECT=<regex> -P expect_failure.cmake -- <command>...: the command must fail *and* print a line in which the
# regex follows "error" (or clang's note on the deleted candidate, or a linker's equivalent). With -DWRAPPED=1 the
# message may extend over several lines, as CMake's own errors do. Without EXPECT the command must succeed.
# With -DLINES=<n> the command may print at most n lines.
# With -DTOGETHER=<file> -DSOURCES=<file>[|<file>]... instead of EXPECT, the command must fail with all cases of the sources
# enabled, and its output is written to the file. A compiler reports an error that several cases share only once, and may
# stop before it has seen all cases. So cases without an error are compiled together again while that finds more errors
# and more than one case is left. <file>.found receives "<case>: <error>" of each case whose error was found.
cmake_policy(VERSION 3.25)
set(ENV{LC_ALL} C) # other locales make g++ quote names with UTF-8 quotation marks
set(command "")
set(in_command FALSE)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
  if(in_command)
    list(APPEND command "${CMAKE_ARGV${i}}")
  elseif(CMAKE_ARGV${i} STREQUAL "--")
    set(in_command TRUE)
  endif()
endforeach()

if(TOGETHER)
  string(REPLACE "|" ";" sources "${SOURCES}")
  execute_process(COMMAND sed -n "s|.*defined(\\([A-Z0-9_]*\\)) *// expect: .*|\\1|p" ${sources} OUTPUT_VARIABLE cases)
  string(REGEX MATCHALL "[A-Z0-9_]+" cases "${cases}")
  file(WRITE ${TOGETHER} "")
  set(before 0)
  list(LENGTH cases count)
  while((count GREATER 0 AND before EQUAL 0) OR (count GREATER 1 AND count LESS before))
    list(TRANSFORM cases PREPEND -D OUTPUT_VARIABLE definitions)
    execute_process(COMMAND ${command} ${definitions} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(result EQUAL 0)
      message(FATAL_ERROR "This must fail and succeeds, with ${cases}.")
    endif()
    file(APPEND ${TOGETHER} "== with ${cases}\n${output}\n")
    execute_process(COMMAND awk -f ${CMAKE_CURRENT_LIST_DIR}/../compile_fail/errors_of_cases.awk ${sources} ${TOGETHER}
                    OUTPUT_FILE ${TOGETHER}.found COMMAND_ERROR_IS_FATAL ANY)
    set(before ${count})
    execute_process(COMMAND sed "s/:.*//" ${TOGETHER}.found OUTPUT_VARIABLE found)
    string(REGEX MATCHALL "[A-Z0-9_]+" found "${found}")
    list(REMOVE_ITEM cases ${found})
    list(LENGTH cases count)
  endwhile()
  message(STATUS "To be compiled alone: ${cases}")
  return()
endif()

execute_process(COMMAND ${command} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
string(REPLACE "\n" "\n  " shown "\n${output}") # indented, because CMake wraps unindented text
if(NOT DEFINED EXPECT)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "This must succeed and fails:${shown}")
  endif()
  return()
endif()
if(result EQUAL 0)
  message(FATAL_ERROR "This must fail and succeeds; expected was: ${EXPECT}")
endif()
string(REGEX MATCHALL "\n" lines "${output}")
list(LENGTH lines printed)
if(DEFINED LINES AND printed GREATER LINES)
  message(FATAL_ERROR "This prints ${printed} lines, more than ${LINES}:${shown}")
endif()
string(REGEX REPLACE "[][;]" " " searched "${output}") # these would split or join list elements
if(WRAPPED)
  string(REGEX REPLACE "[ \n]+" " " searched "${searched}")
endif()
string(REPLACE "\n" ";" found "${searched}")
list(FILTER found INCLUDE REGEX "(error|Error|assertion|note: candidate|note: '|instantiation of|multiple definition|undefined reference).*(${EXPECT})")
if(found)
  list(GET found 0 line)
  message(STATUS "${line}")
else()
  message(FATAL_ERROR "This fails, as it must, but no error says: ${EXPECT}${shown}")
endif()

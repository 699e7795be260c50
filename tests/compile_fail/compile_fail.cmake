# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Programs that must not compile. Every file here is a program that compiles as it stands (the control) and contains cases
#
#   #if defined(ADD_CPU_AND_CUDA)  // expect: devplace: .* live on different places
#
# each of which, when its macro is defined, must fail with an error line that matches its regular expression.
# The compiler is called directly, without building anything: first with all cases of all files of a component together,
# which takes little longer than a single case, then with the cases that produced no error. A case whose message is not
# found among the errors of its own lines is then compiled separately, which costs a second or more. Therefore each case
# instantiates what it tests with types of its own: compilers report the errors of an instantiation once. clang++ and
# nvcc instantiate constexpr functions and those that return auto at once, and what these call later; they then name the
# function template that they were in, but no line outside templates. Such cases pass their operands through
# in_a_template.
# The controls of a component are compiled as one source, too. A file with a line "// Compiled alone: <reason>", or that
# defines macros, is compiled alone.
#   <name>.cpp                     without components; with DEVPLACE_BUILD_CUDA also through nvcc
#   <name>_simulated.cpp           with component simulated_cuda
#   <name>_cuda_host.cpp           C++ that links component cuda, where the toolkit is present; nccl_cuda_host.cpp: nccl
#   <name>.cu                      through nvcc, with component cuda
#   <name>_clang_simulated.cpp     as _simulated, by clang++ alone, whose warnings of dangling references are errors there

# devplace_add_cases_together(<group> <language> <source> <flags> <source with cases>...): compiles the source with the
# cases of all sources, and writes what it finds to compile_fail/<group>.log.found. The test is the fixture
# compile_fail_<group>.
function(devplace_add_cases_together group language source flags)
  string(JOIN "|" sources ${ARGN})
  set(log ${CMAKE_CURRENT_BINARY_DIR}/compile_fail/${group}.log)
  if(language STREQUAL "CUDA")
    set(label cuda)
    list(APPEND flags -Xcudafe --error_limit=10000 -o ${log}.ptx) # otherwise nvcc stops after 100
  else()
    set(label compile_fail)
    list(APPEND flags -ftemplate-backtrace-limit=0)
    if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
      list(APPEND flags -ferror-limit=0)
    endif()
  endif()
  set(test "compile_fail: every case of ${group} at once")
  add_test(NAME "${test}" COMMAND ${CMAKE_COMMAND} -DTOGETHER=${log} "-DSOURCES=${sources}" -P
                                  ${CMAKE_CURRENT_SOURCE_DIR}/support/expect_failure.cmake -- ${flags} ${source}
           COMMAND_EXPAND_LISTS)
  set_tests_properties("${test}" PROPERTIES LABELS ${label} TIMEOUT ${DEVPLACE_TEST_TIMEOUT} COST 50
                                            FIXTURES_SETUP compile_fail_${group})
endfunction()

# devplace_add_compile_fail_tests(<source> LANGUAGE CXX|CUDA [COMPONENT <component>])
function(devplace_add_compile_fail_tests source)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LANGUAGE;COMPONENT" "")
  string(MAKE_C_IDENTIFIER "compile_fail_${source}_${arg_LANGUAGE}" target)
  set(path ${CMAKE_CURRENT_SOURCE_DIR}/compile_fail/${source})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path}) # the cases are read from it

  # Never built: collects include directories and definitions from the libraries that it links.
  add_library(${target} OBJECT EXCLUDE_FROM_ALL ${path})
  target_link_libraries(${target} PRIVATE devplace::devplace)
  if(arg_COMPONENT)
    target_link_libraries(${target} PRIVATE devplace::${arg_COMPONENT})
  endif()
  set(includes $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
  set(definitions $<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>)
  set(flags "$<$<BOOL:${includes}>:-I$<JOIN:${includes},$<SEMICOLON>-I>>"
            "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},$<SEMICOLON>-D>>")
  if(arg_LANGUAGE STREQUAL "CXX")
    list(PREPEND flags ${CMAKE_CXX_COMPILER} ${CMAKE_CXX20_STANDARD_COMPILE_OPTION} ${DEVPLACE_GNU_HEAP})
    list(APPEND flags -fsyntax-only)
    if(source MATCHES "_clang_simulated\\.cpp$")
      list(APPEND flags -Werror)
    endif()
  else()
    # nvcc has no -fsyntax-only. Its pass for devices has the same front end and messages as the one for the host, sees
    # both kinds of code, and may stop there; only the control produces a file, which is empty. It only warns of
    # narrowing, which the host's compiler, not reached here, would reject.
    list(PREPEND flags ${CMAKE_CUDA_COMPILER} -std=c++20 -x cu -arch=sm_90 -ptx -fdevice-syntax-only -diag-error 2361)
  endif()

  # Sources with macros or specialisations are compiled alone, and their control is a test of its own.
  file(STRINGS ${path} alone LIMIT_COUNT 1 REGEX "^// Compiled alone: |^ *# *define|^template <>|^namespace devplace")
  set(control "")
  string(JOIN _ group ${arg_LANGUAGE} ${arg_COMPONENT})
  if(alone OR "-Werror" IN_LIST flags)
    set(control control)
    set(group ${target})
    devplace_add_cases_together(${group} ${arg_LANGUAGE} ${path} "${flags}" ${path})
  else()
    set_property(DIRECTORY APPEND PROPERTY compile_fail_${group} ${path})
    set_property(DIRECTORY PROPERTY compile_fail_${group}_flags "${flags}")
  endif()

  file(STRINGS ${path} lines REGEX "defined\\([A-Z0-9_]+\\) *// expect: ")
  foreach(line IN ITEMS ${control} LISTS lines)
    set(case CONTROL)
    set(expect "")
    set(unless_found "")
    set(required "")
    if(line MATCHES "defined\\(([A-Z0-9_]+)\\) *// expect: (.*)$")
      set(case ${CMAKE_MATCH_1})
      set(expect -DEXPECT=${CMAKE_MATCH_2})
      set(unless_found sh ${CMAKE_CURRENT_SOURCE_DIR}/compile_fail/unless_found.sh
                       ${CMAKE_CURRENT_BINARY_DIR}/compile_fail/${group}.log.found ${case})
      set(required compile_fail_${group})
      get_property(cases DIRECTORY PROPERTY compile_fail_${group}_cases)
      if(case IN_LIST cases)
        message(FATAL_ERROR "${source}: ${case} is also a case of another source that is compiled with this one.")
      endif()
      set_property(DIRECTORY APPEND PROPERTY compile_fail_${group}_cases ${case})
    endif()
    set(label compile_fail)
    set(output "")
    if(arg_LANGUAGE STREQUAL "CUDA")
      set(label cuda)
      set(output -o ${target}_${case}.ptx)
    endif()
    add_test(
      NAME "${target}: ${case}"
      COMMAND ${unless_found} ${CMAKE_COMMAND} ${expect} -P ${CMAKE_CURRENT_SOURCE_DIR}/support/expect_failure.cmake --
              ${flags} ${output} -D${case} ${path}
      COMMAND_EXPAND_LISTS)
    set_tests_properties("${target}: ${case}" PROPERTIES LABELS ${label} TIMEOUT ${DEVPLACE_TEST_TIMEOUT}
                                                                FIXTURES_REQUIRED "${required}")
  endforeach()
endfunction()

# devplace_add_group(<language> <component>): one source with the includes of all sources and then each source in its
# own namespace; compiled as the control of all, and with all cases.
function(devplace_add_group language component)
  string(JOIN _ group ${language} ${component})
  get_property(paths DIRECTORY PROPERTY compile_fail_${group})
  if(NOT paths)
    return()
  endif()
  get_property(flags DIRECTORY PROPERTY compile_fail_${group}_flags)
  set(includes "")
  set(bodies "")
  foreach(path IN LISTS paths)
    file(STRINGS ${path} lines REGEX "^#include ")
    list(APPEND includes ${lines})
    get_filename_component(name ${path} NAME_WE)
    string(APPEND bodies "namespace ${name} {\n#include \"${path}\"\n}\n")
  endforeach()
  list(REMOVE_DUPLICATES includes)
  list(JOIN includes "\n" includes)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/compile_fail/${group}.cpp)
  file(GENERATE OUTPUT ${source} CONTENT "${includes}\n${bodies}")
  devplace_add_cases_together(${group} ${language} ${source} "${flags}" ${paths})
  set(label compile_fail)
  set(output "")
  if(language STREQUAL "CUDA")
    set(label cuda)
    set(output -o ${group}.ptx)
  endif()
  set(test "compile_fail: controls of ${group}")
  add_test(NAME "${test}" COMMAND ${CMAKE_COMMAND} -P ${CMAKE_CURRENT_SOURCE_DIR}/support/expect_failure.cmake -- ${flags}
                                  ${output} ${source}
           COMMAND_EXPAND_LISTS)
  set_tests_properties("${test}" PROPERTIES LABELS ${label} TIMEOUT ${DEVPLACE_TEST_TIMEOUT})
endfunction()

file(GLOB sources RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}/compile_fail CONFIGURE_DEPENDS compile_fail/*.cpp
     compile_fail/*.cu)
foreach(source IN LISTS sources)
  if(source MATCHES "_clang_simulated\\.cpp$" AND NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    continue()
  elseif(source MATCHES "_simulated\\.cpp$")
    devplace_add_compile_fail_tests(${source} LANGUAGE CXX COMPONENT simulated_cuda)
  elseif(source MATCHES "_cuda_host\\.cpp$")
    set(component cuda)
    if(source MATCHES "^nccl_")
      set(component nccl)
    endif()
    if(TARGET devplace::${component})
      devplace_add_compile_fail_tests(${source} LANGUAGE CXX COMPONENT ${component})
    else()
      devplace_add_skipped_test(compile_fail_${source} "component ${component} is not on this machine")
    endif()
  elseif(source MATCHES "\\.cpp$")
    devplace_add_compile_fail_tests(${source} LANGUAGE CXX)
    # Not for these: with nvcc they take long, and their sentences come from headers that others test with nvcc, or from
    # the compiler.
    if(DEVPLACE_BUILD_CUDA AND NOT source MATCHES "^(declared_function|headers_fail|network_sizes)\\.cpp$")
      devplace_add_compile_fail_tests(${source} LANGUAGE CUDA)
    endif()
  elseif(DEVPLACE_BUILD_CUDA)
    devplace_add_compile_fail_tests(${source} LANGUAGE CUDA COMPONENT cuda)
  endif()
endforeach()
foreach(language IN ITEMS CXX CUDA)
  foreach(component IN ITEMS "" simulated_cuda cuda nccl)
    devplace_add_group(${language} "${component}")
  endforeach()
endforeach()

# Flags with which nothing of the library can be compiled: the first error says so, and no others follow.
file(CONFIGURE OUTPUT all_headers.cpp CONTENT "#include <devplace/all.hpp>\n")
set(flags -std=c++17 -fno-exceptions)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  list(APPEND flags -U__clang_major__)
endif()
foreach(flag IN LISTS flags)
  set(expect "devplace: the library needs C..20")
  if(flag STREQUAL "-fno-exceptions")
    set(expect "devplace: the library reports errors by exceptions")
  elseif(flag MATCHES "clang")
    set(expect "devplace: the library needs clang.. 16 or later")
  endif()
  add_test(NAME "compile_fail: ${flag}"
           COMMAND ${CMAKE_COMMAND} -DEXPECT=${expect} -DLINES=10 -P ${CMAKE_CURRENT_SOURCE_DIR}/support/expect_failure.cmake --
                   ${CMAKE_CXX_COMPILER} ${CMAKE_CXX20_STANDARD_COMPILE_OPTION} ${flag} -fsyntax-only
                   -I${PROJECT_SOURCE_DIR}/include ${CMAKE_CURRENT_BINARY_DIR}/all_headers.cpp)
  set_tests_properties("compile_fail: ${flag}" PROPERTIES LABELS compile_fail)
endforeach()

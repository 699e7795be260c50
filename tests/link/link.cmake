# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Tests of linking: programs of several translation units, programs that must not link, and symbols of object files. A
# source may name its components: main.cpp=simulated_cuda, main.cpp=cuda+compiled. A .cu source always has component
# cuda; a .cpp source with =cuda is C++ that links component cuda. If only X.cpp exists, X.cu is X.cpp compiled as CUDA.

add_custom_target(devplace_link_tests)

# Sets `out` to one object library per <source>[=<component>], so that each has its own component.
function(devplace_object_libraries out name)
  set(libraries "")
  foreach(entry IN LISTS ARGN)
    string(REGEX MATCH "^([^=]+)=?(.*)$" _ ${entry})
    set(source ${CMAKE_MATCH_1})
    set(component ${CMAKE_MATCH_2})
    if(source MATCHES "\\.cu$")
      set(component cuda)
    endif()
    string(MAKE_C_IDENTIFIER "${name}_${entry}" library)
    set(path ${CMAKE_CURRENT_SOURCE_DIR}/link/${source})
    if(NOT EXISTS ${path}) # a .cu that is a .cpp compiled as CUDA
      set(path ${CMAKE_CURRENT_BINARY_DIR}/link/${source})
      string(REGEX REPLACE "\\.cu$" ".cpp" original ${source})
      file(CONFIGURE OUTPUT ${path} CONTENT "#include \"link/${original}\"\n")
    endif()
    add_library(${library} OBJECT ${path})
    target_link_libraries(${library} PRIVATE devplace_test_settings)
    if(component)
      string(REPLACE "+" ";devplace::" components ${component})
      target_link_libraries(${library} PRIVATE devplace::${components})
    endif()
    add_dependencies(devplace_${label}_tests ${library})
    list(APPEND libraries ${library})
  endforeach()
  set(${out} ${libraries} PARENT_SCOPE)
endfunction()

# Sets `label`, or skips the caller's test if this build lacks a tool that a source needs: nvcc for .cu
# (DEVPLACE_BUILD_CUDA), and the toolkit for =cuda.
macro(devplace_link_label name)
  set(label link)
  set(sources "${ARGN}")
  if(sources MATCHES "\\.cu(;|$)")
    set(label cuda)
    if(NOT DEVPLACE_BUILD_CUDA)
      return() # reported as skipped by configuration `cuda`
    endif()
  elseif(sources MATCHES "=cuda([+;]|$)" AND NOT TARGET devplace::cuda)
    devplace_add_skipped_test(${name} "component cuda is not on this machine")
    return()
  endif()
endmacro()

# devplace_add_link_test(<name> <source>[=<component>]...): the program links, runs and returns 0 (4: skipped). A
# program of a single source with simulated devices is compiled like the other simulated tests.
function(devplace_add_link_test name)
  devplace_link_label(${name} ${ARGN})
  devplace_object_libraries(libraries ${name} ${ARGN})
  set(objects ${libraries})
  set(compiled "")
  if(DEVPLACE_TEST_UNITY AND ARGN MATCHES "^[^;]+=simulated_cuda$")
    target_precompile_headers(${libraries} REUSE_FROM devplace_test_precompiled_simulated_cuda)
    set(compiled devplace::compiled)
    target_link_libraries(${libraries} PRIVATE ${compiled})
  endif()
  list(TRANSFORM objects REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>")
  add_executable(${name} ${objects})
  target_link_libraries(${name} PRIVATE devplace::devplace ${compiled})
  foreach(component IN ITEMS cuda cblas zlib compiled)
    if(ARGN MATCHES "=${component}(;|$)" OR (component STREQUAL "cuda" AND label STREQUAL "cuda"))
      target_link_libraries(${name} PRIVATE devplace::${component})
    endif()
  endforeach()
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  add_dependencies(devplace_${label}_tests ${name})
  add_test(NAME "link: ${name}" COMMAND ${name})
  set_tests_properties("link: ${name}" PROPERTIES LABELS ${label} SKIP_RETURN_CODE 4 TIMEOUT ${DEVPLACE_TEST_TIMEOUT})
endfunction()

# devplace_add_link_fail_test(<name> <regex> [LTO] <source>[=<component>]...): every source compiles, but linking must
# fail with a line that matches, also if the linker discards unused sections. Uses the project's flags and no libraries,
# since the clash does not depend on them.
function(devplace_add_link_fail_test name regex)
  cmake_parse_arguments(PARSE_ARGV 2 arg "LTO" "" "")
  devplace_link_label(${name} ${arg_UNPARSED_ARGUMENTS})
  devplace_object_libraries(libraries ${name} ${arg_UNPARSED_ARGUMENTS})
  set(objects ${libraries})
  list(TRANSFORM objects REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>")
  separate_arguments(flags NATIVE_COMMAND "${CMAKE_CXX_FLAGS}")
  if(arg_LTO)
    list(APPEND flags -flto)
    foreach(library IN LISTS libraries)
      target_compile_options(${library} PRIVATE -flto)
    endforeach()
  endif()
  add_test(
    NAME "link_fail: ${name}"
    COMMAND ${CMAKE_COMMAND} -DEXPECT=${regex} -P ${CMAKE_CURRENT_SOURCE_DIR}/support/expect_failure.cmake --
            ${CMAKE_CXX_COMPILER} ${flags} ${objects} -Wl,--gc-sections -o ${name}.out
    COMMAND_EXPAND_LISTS)
  set_tests_properties("link_fail: ${name}" PROPERTIES LABELS ${label} TIMEOUT ${DEVPLACE_TEST_TIMEOUT})
endfunction()

# devplace_add_symbol_count_test(<name> <source>[=<component>] [DIFFERENT kernels|large]): the source, compiled with
# and without SEVERAL_ORDINALS, has the same number of kernels and of large functions (1600 bytes or more; compiled
# without optimisation, so that only always_inline functions are inlined and a size is the function's own). With DIFFERENT
# the given number must differ. Of a .cu source, only the kernels are counted, in the code of nvcc's pass for devices.
function(devplace_add_symbol_count_test name source)
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    return() # instrumentation dominates the size of functions
  endif()
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "DIFFERENT" "")
  devplace_link_label(${name} ${source})
  devplace_object_libraries(few_library ${name}_few ${source})
  devplace_object_libraries(many_library ${name}_many ${source})
  target_compile_definitions(${many_library} PRIVATE SEVERAL_ORDINALS)
  foreach(library IN ITEMS ${few_library} ${many_library})
    if(label STREQUAL "cuda")
      set_target_properties(${library} PROPERTIES CUDA_PTX_COMPILATION ON)
    else()
      target_compile_options(${library} PRIVATE -O0)
      target_link_libraries(${library} PRIVATE devplace::compiled)
    endif()
  endforeach()
  add_test(
    NAME "symbols: ${name}"
    COMMAND ${CMAKE_COMMAND} -DNM=${CMAKE_NM} -DLARGE=1600 -DFEW=$<TARGET_OBJECTS:${few_library}>
            -DMANY=$<TARGET_OBJECTS:${many_library}> -P ${CMAKE_CURRENT_SOURCE_DIR}/link/compare_symbols.cmake)
  set_tests_properties("symbols: ${name}" PROPERTIES LABELS ${label})
  if(arg_DIFFERENT)
    set_tests_properties("symbols: ${name}" PROPERTIES PASS_REGULAR_EXPRESSION
                                                       "changes the number of ${arg_DIFFERENT} ")
  endif()
endfunction()

# devplace_add_configuration_test(<name> <component> <source>...): every devplace function that depends on the
# translation unit's configuration has the configuration in its mangled name. The sources use devplace's functions; with
# DEVPLACE_TEST_UNITY they are compiled as one.
function(devplace_add_configuration_test name component)
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    return() # the code does not differ
  endif()
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/link/ OUTPUT_VARIABLE sources)
  devplace_unite_sources(sources ${name} ${sources})
  add_library(${name} OBJECT ${sources})
  target_link_libraries(${name} PRIVATE devplace_test_settings devplace::${component})
  target_compile_options(${name} PRIVATE -O0)
  add_dependencies(devplace_link_tests ${name})
  add_test(NAME "symbols: ${name}"
           COMMAND ${CMAKE_COMMAND} -DOBJDUMP=${CMAKE_OBJDUMP} "-DOBJECTS=$<TARGET_OBJECTS:${name}>" -P
                   ${CMAKE_CURRENT_SOURCE_DIR}/link/configured_symbols.cmake)
  set_tests_properties("symbols: ${name}" PROPERTIES LABELS link)
endfunction()

# The programs, one test per line.
if(EXISTS ${CMAKE_CURRENT_LIST_DIR}/programs.cmake)
  include(${CMAKE_CURRENT_LIST_DIR}/programs.cmake)
endif()

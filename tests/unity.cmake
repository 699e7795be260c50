# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# With DEVPLACE_TEST_UNITY several test files are compiled as one source, because half of the compiler's work for a file
# is shared with other files of its folder. A generated source first has the includes of all its files, then each file
# in its own namespace, so that helpers may have equal names; the includes in the files then have no effect.
option(DEVPLACE_TEST_UNITY "Compile several test files in one source; faster from nothing, slower after a change" OFF)
set(DEVPLACE_TEST_UNITY_SIZE 24 CACHE STRING "Number of test files in a source of DEVPLACE_TEST_UNITY")
mark_as_advanced(DEVPLACE_TEST_UNITY_SIZE)

# devplace_unite_sources(<out> <name> <file>...): the sources to compile in place of the files. A file that includes others
# under a preprocessor condition, defines macros or specialises templates of namespace devplace stays as it is.
function(devplace_unite_sources out name)
  if(NOT DEVPLACE_TEST_UNITY)
    set(${out} ${ARGN} PARENT_SCOPE)
    return()
  endif()
  set(sources "")
  set(united "")
  foreach(file IN LISTS ARGN)
    file(STRINGS ${file} obstacles LIMIT_COUNT 1 REGEX "^ *# *(define|undef)|^ *template <>|^namespace devplace")
    file(STRINGS ${file} directives REGEX "^ *# *(if|include)")
    if(obstacles OR directives MATCHES "# *if.*# *include")
      list(APPEND sources ${file})
    else()
      list(APPEND united ${file})
    endif()
  endforeach()

  # A compiler needs up to 3 GB for this number of files, or for a third as many trainings. For ThreadSanitizer,
  # trainings take more than half of the build's time; one source with all of them would still compile when the other
  # processor has nothing left to do.
  set(limit ${DEVPLACE_TEST_UNITY_SIZE})
  if(name MATCHES "^test_train")
    math(EXPR limit "(${limit} + 2) / 3")
    if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=thread")
      math(EXPR limit "(${limit} + 1) / 2")
    endif()
  endif()
  set(number 0)
  while(united)
    list(LENGTH united left)
    # Equal parts: 9 files become 5 and 4.
    math(EXPR parts "(${left} + ${limit} - 1) / ${limit}")
    math(EXPR size "(${left} + ${parts} - 1) / ${parts}")
    list(SUBLIST united 0 ${size} files)
    if(size LESS left)
      list(SUBLIST united ${size} -1 united)
    else()
      set(united "")
    endif()
    set(includes "")
    set(bodies "")
    foreach(file IN LISTS files)
      file(STRINGS ${file} lines REGEX "^#include ")
      list(APPEND includes ${lines})
      string(MAKE_C_IDENTIFIER "${file}" namespace)
      string(REGEX REPLACE "^.*_tests_" "unity_" namespace ${namespace})
      string(APPEND bodies "namespace ${namespace} {\n#include \"${file}\"\n}\n")
    endforeach()
    list(REMOVE_DUPLICATES includes)
    list(JOIN includes "\n" includes)
    math(EXPR number "${number} + 1")
    set(source ${CMAKE_CURRENT_BINARY_DIR}/unity/${name}_${number}.cpp)
    file(GENERATE OUTPUT ${source} CONTENT "${includes}\n${bodies}")
    list(APPEND sources ${source})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files}) # their includes are read at configuration
  endwhile()
  set(${out} ${sources} PARENT_SCOPE)
endfunction()

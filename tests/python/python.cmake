# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Tests the exchange of tensors with Python's libraries: tests/python/<thing>.cpp is a module that <thing>_test.py uses.
# Not built with sanitizers, since an interpreter without them cannot load such a module; the C++ tests of exchanges run
# with sanitizers. -DPython3_EXECUTABLE chooses the interpreter.
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  return()
endif()
# Debian's NumPy package works with Debian's interpreter, which may not be the first in PATH.
foreach(candidate IN ITEMS python3 /usr/bin/python3)
  if(NOT Python3_EXECUTABLE)
    execute_process(COMMAND ${candidate} -c "import numpy, sys; print(sys.executable)" OUTPUT_VARIABLE Python3_EXECUTABLE
                    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
endforeach()
find_package(Python3 QUIET COMPONENTS Interpreter Development.Module)
file(GLOB modules CONFIGURE_DEPENDS python/*.cpp)
foreach(source IN LISTS modules)
  get_filename_component(name ${source} NAME_WE)
  if(NOT TARGET Python3::Module)
    devplace_add_skipped_test(test_python_${name} "Python's headers are not on this machine (Debian: python3-dev)")
    continue()
  endif()
  add_library(${name} MODULE EXCLUDE_FROM_ALL ${source})
  target_link_libraries(${name} PRIVATE devplace_test_settings Python3::Module)
  set_target_properties(${name} PROPERTIES PREFIX "" CXX_VISIBILITY_PRESET hidden)
  add_dependencies(devplace_unit_tests ${name})
  add_test(NAME "python: ${name}" COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/python/${name}_test.py
                                          $<TARGET_FILE_DIR:${name}>)
  set_tests_properties("python: ${name}" PROPERTIES LABELS unit SKIP_RETURN_CODE 4 TIMEOUT ${DEVPLACE_TEST_TIMEOUT})
endforeach()

# files_for_python_test.py reads the files of tests/io/files_for_python_test.cpp with Python's packages.
if(NOT Python3_EXECUTABLE)
  devplace_add_skipped_test("python: files read by its packages" "python3 is not installed")
  return()
endif()
set(folder ${CMAKE_CURRENT_BINARY_DIR}/files_for_python)
add_test(NAME "python: files are written"
         COMMAND sh -c "rm -rf '${folder}'; DEVPLACE_TEST_FILES_FOR_PYTHON='${folder}' exec '$<TARGET_FILE:test_io>' 'files for Python*'")
set_tests_properties("python: files are written" PROPERTIES LABELS unit FIXTURES_SETUP files_for_python)
foreach(package IN ITEMS numpy safetensors torch)
  set(interpreter ${Python3_EXECUTABLE})
  if(package STREQUAL "safetensors") # small enough to be installed where it is missing
    set(interpreter sh ${CMAKE_CURRENT_SOURCE_DIR}/python/with_safetensors.sh ${Python3_EXECUTABLE}
                    ${CMAKE_CURRENT_BINARY_DIR}/with_safetensors)
  endif()
  set(name "python: files read by ${package}")
  add_test(NAME ${name} COMMAND ${interpreter} ${CMAKE_CURRENT_SOURCE_DIR}/python/files_for_python_test.py ${folder} ${package})
  set_tests_properties(${name} PROPERTIES LABELS unit SKIP_RETURN_CODE 4 TIMEOUT ${DEVPLACE_TEST_TIMEOUT}
                                          FIXTURES_REQUIRED files_for_python)
endforeach()

# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Tensors are exchanged with Python's libraries: tests/python/<thing>.cpp is a module, and <thing>_test.py uses it. An
# interpreter without sanitizers does not load a module with them, and the C++ tests of exchanges have them. The
# interpreter is chosen by -DPython3_EXECUTABLE.
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  return()
endif()
# NumPy of Debian's package is for Debian's interpreter, which need not be the first in PATH.
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

# Files are read by Python's packages: those of tests/io/files_for_python_test.cpp, by files_for_python_test.py.
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

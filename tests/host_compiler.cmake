# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# With clang as nvcc's host compiler, programs compile in two thirds of the time that they take with g++, and both are
# tested: g++ compiles the other programs, and train's tests, because launches become graphs only with g++, whose
# __builtin_clear_padding makes equal arguments equal bytes.
set(host_compiler "")
find_program(DEVPLACE_TEST_HOST_CLANG clang++-16)
mark_as_advanced(DEVPLACE_TEST_HOST_CLANG)
if(DEVPLACE_TEST_HOST_CLANG AND CMAKE_CUDA_COMPILER_ID STREQUAL "NVIDIA" AND NOT CMAKE_CUDA_HOST_COMPILER)
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/host_compiler.cu "int main() {}\n")
  execute_process(
    COMMAND ${CMAKE_CUDA_COMPILER} -ccbin ${DEVPLACE_TEST_HOST_CLANG} -c ${CMAKE_CURRENT_BINARY_DIR}/host_compiler.cu
            -o ${CMAKE_CURRENT_BINARY_DIR}/host_compiler.o
    RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
  if(status EQUAL 0)
    # clang does not know an option that all programs get for g++.
    set(host_compiler -ccbin=${DEVPLACE_TEST_HOST_CLANG} -Xcompiler=-Wno-unused-command-line-argument)
  endif()
endif()

# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# A project finds components cuda and compiled in two folders, in either order, and is configured without warnings. CUDA's
# targets that the project finds itself are visible in their folder only.
foreach(order IN ITEMS "cuda compiled" "compiled cuda")
  file(REMOVE_RECURSE ${WORK})
  string(REPLACE " " ")\nadd_subdirectory(" folders ${order})
  file(WRITE ${WORK}/CMakeLists.txt
       "cmake_minimum_required(VERSION 3.10)\nproject(folders CXX)\ninclude(${SOURCE}/cmake/devplace_components.cmake)\n"
       "add_library(devplace::devplace INTERFACE IMPORTED GLOBAL)\nadd_subdirectory(${folders})\n")
  file(WRITE ${WORK}/cuda/CMakeLists.txt
       "find_package(CUDAToolkit)\ndevplace_find_components(cuda)\n"
       "add_executable(program main.cpp)\ntarget_link_libraries(program devplace::cuda)\n")
  file(WRITE ${WORK}/cuda/main.cpp "int main() {}\n")
  file(WRITE ${WORK}/compiled/CMakeLists.txt "devplace_find_components(compiled)\n")
  execute_process(COMMAND ${CMAKE_COMMAND} -Werror=dev -S ${WORK} -B ${WORK}/build -G ${GENERATOR}
                          -DCMAKE_CXX_COMPILER=${COMPILER} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endforeach()

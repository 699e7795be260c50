# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# devplace_compile_as_cuda(<target>) compiles the C++ sources of <target> as CUDA and links devplace::cuda, so that one
# .cpp text serves builds with and without CUDA. Call it after the target's sources are complete. The language of a
# source is a property of its directory: another target of the same directory that lists the same file changes too.
function(devplace_compile_as_cuda target)
  if(NOT TARGET ${target})
    message(FATAL_ERROR "devplace_compile_as_cuda: there is no target '${target}'; add it before the call.")
  endif()
  if(NOT CMAKE_CUDA_COMPILER_LOADED)
    message(FATAL_ERROR "devplace_compile_as_cuda(${target}): the CUDA language is not enabled in this directory. Write "
                        "project(... LANGUAGES CXX CUDA), or enable_language(CUDA), before the call.")
  endif()
  if(NOT TARGET devplace::cuda)
    message(FATAL_ERROR "devplace_compile_as_cuda(${target}): there is no target devplace::cuda. Write "
                        "find_package(devplace REQUIRED COMPONENTS cuda), or devplace_find_components(cuda) where "
                        "devplace is a subdirectory, before the call.")
  endif()

  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.(cpp|cc|cxx|C)$")
  if(NOT sources)
    message(FATAL_ERROR "devplace_compile_as_cuda(${target}): the target has no C++ sources yet.")
  endif()
  get_target_property(directory ${target} SOURCE_DIR) # relative names mean this folder, wherever the call stands
  list(TRANSFORM sources REPLACE "^([^/$].*)$" "${directory}/\\1")
  set_source_files_properties(${sources} TARGET_DIRECTORY ${target} PROPERTIES LANGUAGE CUDA)
  # The property and not target_link_libraries: both of its signatures stay open to the caller.
  set_property(TARGET ${target} APPEND PROPERTY LINK_LIBRARIES devplace::cuda)

  # Where nobody chose an architecture CMake stores nvcc's oldest one under this help text, which lacks the instructions
  # that devplace's kernels are written for.
  get_target_property(architectures ${target} CUDA_ARCHITECTURES)
  get_property(origin CACHE CMAKE_CUDA_ARCHITECTURES PROPERTY HELPSTRING)
  get_property(detected CACHE CMAKE_CUDA_ARCHITECTURES PROPERTY VALUE)
  if(origin STREQUAL "CUDA architectures" AND "$ENV{CUDAARCHS}" STREQUAL "" AND architectures STREQUAL detected)
    set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES "80-real;90")
  endif()
endfunction()

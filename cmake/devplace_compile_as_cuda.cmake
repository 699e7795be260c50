# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# devplace_compile_as_cuda(<target>) compiles the C++ sources of <target> as CUDA and links devplace::cuda, so that the
# same .cpp file works in builds with and without CUDA. Call it after all sources were added. CMake stores a source's
# language per directory, so the language also changes for other targets in that directory with the same file.
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
  get_target_property(directory ${target} SOURCE_DIR) # relative to the target's directory, not to the caller's
  list(TRANSFORM sources REPLACE "^([^/$].*)$" "${directory}/\\1")
  set_source_files_properties(${sources} TARGET_DIRECTORY ${target} PROPERTIES LANGUAGE CUDA)
  # Sets the property instead of calling target_link_libraries, so that the caller can use either signature of it.
  set_property(TARGET ${target} APPEND PROPERTY LINK_LIBRARIES devplace::cuda)

  # If no architecture was chosen, CMake stores nvcc's oldest architecture with this help text, which lacks instructions
  # that devplace's kernels use.
  get_target_property(architectures ${target} CUDA_ARCHITECTURES)
  get_property(origin CACHE CMAKE_CUDA_ARCHITECTURES PROPERTY HELPSTRING)
  get_property(detected CACHE CMAKE_CUDA_ARCHITECTURES PROPERTY VALUE)
  if(origin STREQUAL "CUDA architectures" AND "$ENV{CUDAARCHS}" STREQUAL "" AND architectures STREQUAL detected)
    set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES "80-real;90")
  endif()
endfunction()

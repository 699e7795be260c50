# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Compiled by nvcc: tests/<area>/.../<thing>_cuda_test.{cpp,cu} (skipped without a device), <thing>_mock_cuda_test.cpp
# (no device needed: kernels are launched but do not run), every public header, and the examples. Label cuda, target
# devplace_cuda_tests.
if(NOT TARGET devplace::cuda)
  message(FATAL_ERROR "${devplace_cuda_NOT_FOUND_MESSAGE}")
endif()

# devplace_compile_for_devices(<target> <source>...): runs only nvcc's device pass, which has the front end of the host
# pass and ends with the code of every kernel. For programs that this machine cannot run without a device.
function(devplace_compile_for_devices name)
  add_library(${name} OBJECT ${ARGN})
  set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CUDA)
  target_link_libraries(${name} PRIVATE devplace::cuda)
  set_target_properties(${name} PROPERTIES CUDA_PTX_COMPILATION ON)
  add_dependencies(devplace_cuda_tests ${name})
endfunction()

# The sources that examples/ compiles as C++, except nine without cuda places. The property that makes a source CUDA is
# set per directory. Without a device all but two are compiled only for devices, as one source with each example in
# its own namespace, because nvcc's work for them is mostly equal; other builds compile the examples as C++ for the
# host.
option(DEVPLACE_TEST_WITHOUT_CUDA_DEVICE "This machine has no CUDA device: most sources are compiled but not run" OFF)
file(GLOB examples CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/*.cpp)
list(FILTER examples EXCLUDE REGEX "/(equation_of_state|gpt|hogwild|mixed_precision|online_control|projection|resume|surrogate|u_net)\\.cpp$")
set(united "")
set(united_bodies "")
foreach(example IN LISTS examples)
  get_filename_component(name ${example} NAME_WE)
  if(DEVPLACE_TEST_WITHOUT_CUDA_DEVICE AND NOT name MATCHES "^(readme|devices)$")
    file(STRINGS ${example} lines REGEX "^#include ")
    list(APPEND united ${lines})
    string(APPEND united_bodies "namespace example_${name} {\n#include \"${example}\"\n}\n")
    continue()
  endif()
  add_executable(${name}_as_cuda ${example})
  target_link_libraries(${name}_as_cuda PRIVATE devplace::devplace)
  devplace_compile_as_cuda(${name}_as_cuda)
  add_dependencies(devplace_cuda_tests ${name}_as_cuda)
  devplace_add_example_test(${name} ${name}_as_cuda cuda)
endforeach()
if(united)
  # The CUDA part of a solver over MPI (below).
  if(TARGET devplace::mpi)
    list(APPEND united "#include <hpc/surrogate.hpp>")
    string(APPEND united_bodies "#define HPC_DEVICE dp::cuda<0>\n#include <hpc/surrogate.cpp>\n")
  endif()
  if(TARGET devplace::nccl)
    file(STRINGS nccl/training.cpp lines REGEX "^#include ")
    list(APPEND united ${lines})
    string(APPEND united_bodies "namespace nccl_training {\n#include <nccl/training.cpp>\n}\n")
  endif()
  list(REMOVE_DUPLICATES united)
  list(JOIN united "\n" united)
  # A function other than the program's main must return a value; nobody calls this one.
  file(GENERATE OUTPUT examples_as_cuda.cu CONTENT "${united}
#pragma nv_diag_suppress 940
#define main main_of_example
${united_bodies}")
  devplace_compile_for_devices(devplace_examples_as_cuda ${CMAKE_CURRENT_BINARY_DIR}/examples_as_cuda.cu)
  target_include_directories(devplace_examples_as_cuda PRIVATE ${PROJECT_SOURCE_DIR}/examples)
  target_compile_definitions(devplace_examples_as_cuda PRIVATE DEVPLACE_EXAMPLE_DATA="" DEVPLACE_EXAMPLE_TEXT="")
  if(TARGET devplace::nccl)
    target_link_libraries(devplace_examples_as_cuda PRIVATE devplace_test_settings devplace::nccl)
  endif()
  if(TARGET devplace::mpi)
    target_link_libraries(devplace_examples_as_cuda PRIVATE devplace::mpi)
  endif()
endif()

function(devplace_add_mock_cuda_test name)
  set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CUDA)
  devplace_add_test(${name} LABEL cuda COMPONENTS mock_cuda SOURCES ${ARGN})
  target_compile_options(${name} PRIVATE $<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:-std=c++20>)
  set_target_properties(${name} PROPERTIES CUDA_RUNTIME_LIBRARY None)
  add_dependencies(devplace_cuda_tests ${name})
endfunction()

function(devplace_add_cuda_test name)
  devplace_unite_sources(sources ${name} ${ARGN})
  devplace_add_test(${name} LABEL cuda COMPONENTS cuda SOURCES ${sources})
  if(sources MATCHES "\\.cpp(;|$)")
    devplace_compile_as_cuda(${name})
  endif()
  add_dependencies(devplace_cuda_tests ${name})
endfunction()

# Without a device, where nearly all of these tests are skipped, areas with many tests are compiled only for devices.
# Tests of other areas, some of which need no device, form one program, because nvcc takes ten seconds even for a small
# source.
set(areas_with_many train nn ops)
set(of_other_areas "")
foreach(area IN LISTS areas)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${area}/*_cuda_test.cpp ${area}/*_cuda_test.cu)
  if(NOT TARGET devplace::nccl)
    list(FILTER sources EXCLUDE REGEX "/nccl_[a-z_]*_cuda_test\\.cpp$")
  endif()
  set(with_mock_of_cudnn ${sources})
  list(FILTER with_mock_of_cudnn INCLUDE REGEX "/cudnn_[a-z_]*_mock_cuda_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "/cudnn_[a-z_]*_mock_cuda_test\\.cpp$")
  set(with_cudnn ${sources})
  list(FILTER with_cudnn INCLUDE REGEX "/cudnn_[a-z_]*_cuda_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "/cudnn_[a-z_]*_cuda_test\\.cpp$")
  if(with_cudnn AND TARGET devplace::cudnn)
    devplace_unite_sources(with_cudnn test_${area}_cudnn_cuda ${with_cudnn})
    devplace_add_test(test_${area}_cudnn_cuda LABEL cuda COMPONENTS cudnn SOURCES ${with_cudnn})
    devplace_compile_as_cuda(test_${area}_cudnn_cuda)
    if(NOT TARGET devplace_stand_in_driver)
      add_library(devplace_stand_in_driver SHARED support/stand_in_driver/stand_in_driver.cpp)
      set_target_properties(
        devplace_stand_in_driver PROPERTIES OUTPUT_NAME cuda SOVERSION 1
                                            LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/stand_in_driver)
    endif()
    add_dependencies(test_${area}_cudnn_cuda devplace_stand_in_driver)
    target_compile_definitions(test_${area}_cudnn_cuda
                               PRIVATE DEVPLACE_TEST_STAND_IN_DRIVER="$<TARGET_FILE:devplace_stand_in_driver>")
    add_dependencies(devplace_cuda_tests test_${area}_cudnn_cuda)
  endif()
  set(with_mock ${sources})
  list(FILTER with_mock INCLUDE REGEX "_mock_cuda_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "_mock_cuda_test\\.cpp$")
  if(with_mock)
    devplace_unite_sources(with_mock test_${area}_mock_cuda ${with_mock})
    devplace_add_mock_cuda_test(test_${area}_mock_cuda ${with_mock})
  endif()
  if(with_mock_of_cudnn AND TARGET devplace::cudnn)
    devplace_unite_sources(with_mock_of_cudnn test_${area}_cudnn_mock_cuda ${with_mock_of_cudnn})
    devplace_add_mock_cuda_test(test_${area}_cudnn_mock_cuda ${with_mock_of_cudnn})
    target_compile_definitions(test_${area}_cudnn_mock_cuda PRIVATE DEVPLACE_WITH_CUDNN=1)
  endif()
  if(DEVPLACE_TEST_WITHOUT_CUDA_DEVICE AND area IN_LIST areas_with_many)
    set(without_device ${sources})
    list(FILTER without_device INCLUDE REGEX "/kernel_arguments_cuda_test\\.cu$")
    list(APPEND of_other_areas ${without_device})
    list(REMOVE_ITEM sources ${without_device})
    devplace_unite_sources(united test_${area}_cuda ${sources})
    devplace_compile_for_devices(test_${area}_cuda ${united})
    target_link_libraries(test_${area}_cuda PRIVATE devplace_test_settings)
    list(LENGTH sources files)
    devplace_add_skipped_test(test_${area}_cuda "this machine has no CUDA device for the tests of ${files} files, which compile")
    set_tests_properties(test_${area}_cuda PROPERTIES LABELS cuda)
  elseif(DEVPLACE_TEST_WITHOUT_CUDA_DEVICE)
    list(APPEND of_other_areas ${sources})
  elseif(sources)
    devplace_add_cuda_test(test_${area}_cuda ${sources})
  endif()
endforeach()
if(of_other_areas)
  devplace_add_cuda_test(test_cuda ${of_other_areas})
endif()

# The machine code of kernels, for the oldest architecture and for Hopper.
add_test(
  NAME "compiled code of kernels"
  COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/backend/cuda/kernels/compiled_code.sh ${CMAKE_CUDA_COMPILER} "sm_80 sm_90"
          ${CMAKE_CURRENT_SOURCE_DIR}/backend/cuda/kernels/compiled_code.cu -I${PROJECT_SOURCE_DIR}/include
          -DDEVPLACE_WITH_CUDA=1)
# Starts this longest test first, since it would otherwise run alone at the end.
set_tests_properties("compiled code of kernels" PROPERTIES LABELS cuda TIMEOUT ${DEVPLACE_TEST_TIMEOUT} COST 100)

# g++ checks that each header compiles alone; nvcc needs to see each of them once, so one file is enough.
file(GLOB_RECURSE headers RELATIVE ${PROJECT_SOURCE_DIR}/include CONFIGURE_DEPENDS
     ${PROJECT_SOURCE_DIR}/include/*.hpp ${PROJECT_SOURCE_DIR}/include/*.cuh)
# Leaves out headers that do not go with component cuda, and substitutes for absent components that are present here.
list(FILTER headers EXCLUDE REGEX "_body\\.hpp$|backend/simulated/|_absent\\.hpp$|/mpi[a-z_]*\\.hpp$")
set(components devplace::cuda)
foreach(component IN ITEMS cblas zlib nccl cudnn)
  if(TARGET devplace::${component})
    list(APPEND components devplace::${component})
  else()
    list(FILTER headers EXCLUDE REGEX "_${component}\\.hpp$|/${component}[a-z_]*\\.(hpp|cuh)$")
  endif()
endforeach()
list(TRANSFORM headers REPLACE "(.+)" "#include <\\1>\n")
list(JOIN headers "" includes)
file(GENERATE OUTPUT headers_as_cuda.cu CONTENT "${includes}")
add_library(devplace_headers_as_cuda OBJECT ${CMAKE_CURRENT_BINARY_DIR}/headers_as_cuda.cu)
target_link_libraries(devplace_headers_as_cuda PRIVATE ${components})
add_dependencies(devplace_cuda_tests devplace_headers_as_cuda)

# A solver over MPI with one CUDA file.
file(GLOB solver_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/hpc/*.cpp)
if(TARGET devplace::mpi AND NOT DEVPLACE_TEST_WITHOUT_CUDA_DEVICE)
  add_executable(hpc_as_cuda ${solver_sources})
  set_source_files_properties(${PROJECT_SOURCE_DIR}/examples/hpc/surrogate.cpp PROPERTIES LANGUAGE CUDA)
  target_compile_definitions(hpc_as_cuda PRIVATE "HPC_DEVICE=dp::cuda<0>")
  target_link_libraries(hpc_as_cuda PRIVATE devplace::cuda devplace::mpi)
  add_dependencies(devplace_cuda_tests hpc_as_cuda)
endif()

# Programs over NCCL. Linking is tested without a GPU, by the one that compiles faster; the other is among the examples
# then. scripts/gpu-check also starts several of their processes.
if(TARGET devplace::nccl)
  set(programs sums)
  if(NOT DEVPLACE_TEST_WITHOUT_CUDA_DEVICE)
    list(APPEND programs training)
  endif()
  foreach(program IN LISTS programs)
    add_executable(nccl_${program} nccl/${program}.cpp)
    target_link_libraries(nccl_${program} PRIVATE devplace_test_settings devplace::nccl)
    devplace_compile_as_cuda(nccl_${program})
    add_dependencies(devplace_cuda_tests nccl_${program})
    add_test(NAME "nccl: ${program} of one process" COMMAND nccl_${program})
    set_tests_properties("nccl: ${program} of one process" PROPERTIES LABELS cuda SKIP_RETURN_CODE 4
                                                                      TIMEOUT ${DEVPLACE_TEST_TIMEOUT})
  endforeach()
endif()

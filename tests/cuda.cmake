# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Compiled by nvcc: tests/<area>/.../<thing>_cuda_test.{cpp,cu}, <thing>_mock_cuda_test.cpp (always with the mock of CUDA's
# runtime), every public header, and the examples. Without a device, tests and examples run on the GPU in software. Label
# cuda, target devplace_cuda_tests.
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

# With clang as nvcc's host compiler, programs compile in two thirds of the time that they take with g++, and both are
# tested: g++ compiles the other programs, and the tests of trainers, because launches become graphs only with g++, whose
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

# Compiles a program's kernels to PTX that the GPU in software can read, whatever GPU this machine has, and links the mock
# of CUDA's runtime.
function(devplace_run_in_software name)
  set_target_properties(${name} PROPERTIES CUDA_ARCHITECTURES 90-virtual CUDA_RUNTIME_LIBRARY None)
  if(name MATCHES "^test_(train|cudnn)_mock_cuda$")
    set(host_compiler "")
  endif()
  target_compile_options(${name} PRIVATE $<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:-std=c++20;--no-compress;${host_compiler}>)
  add_dependencies(devplace_cuda_tests ${name})
endfunction()

# The sources that examples/ compiles as C++, except nine without cuda places. The property that makes a source CUDA is
# set per directory. Without a device all but one are one program on the GPU in software, with each example in its own
# namespace, because nvcc's work for them is mostly equal; the first argument is the example's name.
option(DEVPLACE_TEST_WITHOUT_CUDA_DEVICE "This machine has no CUDA device: kernels run on the GPU in software" OFF)
file(GLOB examples CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/*.cpp)
list(FILTER examples EXCLUDE REGEX "/(equation_of_state|gpt|hogwild|mixed_precision|online_control|projection|resume|surrogate|u_net)\\.cpp$")
set(united "")
set(united_bodies "")
set(united_calls "")
foreach(example IN LISTS examples)
  get_filename_component(name ${example} NAME_WE)
  if(DEVPLACE_TEST_WITHOUT_CUDA_DEVICE AND NOT name STREQUAL "devices")
    file(STRINGS ${example} lines REGEX "^#include ")
    list(APPEND united ${lines})
    # Only a program's main may end without a value.
    file(READ ${example} text)
    if(text MATCHES "\n} catch")
      string(REPLACE "\n} catch" "\nreturn 0;\n} catch" text "${text}")
    else()
      string(REGEX REPLACE "}\n$" "return 0;\n}\n" text "${text}")
    endif()
    set(source ${CMAKE_CURRENT_BINARY_DIR}/as_cuda/${name}.cpp)
    file(GENERATE OUTPUT ${source} CONTENT "${text}")
    string(APPEND united_bodies "namespace example_${name} {\n#include \"${source}\"\n}\n")
    string(APPEND united_calls "if (name == \"${name}\") return call(example_${name}::main_of_example, argc - 1, argv + 1);\n")
    continue()
  endif()
  add_executable(${name}_as_cuda ${example})
  target_link_libraries(${name}_as_cuda PRIVATE devplace::devplace)
  devplace_compile_as_cuda(${name}_as_cuda)
  add_dependencies(devplace_cuda_tests ${name}_as_cuda)
  devplace_add_example_test(${name} ${name}_as_cuda cuda)
endforeach()
if(united)
  list(REMOVE_DUPLICATES united)
  list(JOIN united "\n" united)
  file(GENERATE OUTPUT examples_as_cuda.cpp CONTENT "${united}
#define main main_of_example
${united_bodies}#undef main
int call(int (*f)(), int, char**) { return f(); }
int call(int (*f)(int, char**), int argc, char** argv) { return f(argc, argv); }
int main(int argc, char** argv) {
  const std::string name = argv[1];
${united_calls}  return 1;
}
")
  add_executable(examples_as_cuda ${CMAKE_CURRENT_BINARY_DIR}/examples_as_cuda.cpp)
  set_source_files_properties(${CMAKE_CURRENT_BINARY_DIR}/examples_as_cuda.cpp PROPERTIES LANGUAGE CUDA)
  target_link_libraries(examples_as_cuda PRIVATE devplace_test_settings devplace::compiled devplace::mock_cuda
                                                 devplace::kernels_in_software devplace::software_gpu)
  devplace_run_in_software(examples_as_cuda)
  target_include_directories(examples_as_cuda PRIVATE ${PROJECT_SOURCE_DIR}/examples)
  target_compile_definitions(
    examples_as_cuda PRIVATE DEVPLACE_EXAMPLE_DATA="${PROJECT_SOURCE_DIR}/examples/data"
                             DEVPLACE_EXAMPLE_TEXT="${CMAKE_CURRENT_BINARY_DIR}/as_cuda/text")
  # Sizes that the GPU in software executes in seconds: transformer learns the first lines of a dozen headers.
  file(GLOB headers ${PROJECT_SOURCE_DIR}/include/devplace/base/*.hpp)
  list(SUBLIST headers 0 12 headers)
  foreach(header IN LISTS headers)
    file(READ ${header} text LIMIT 400)
    get_filename_component(name ${header} NAME)
    file(CONFIGURE OUTPUT as_cuda/text/${name} CONTENT "${text}" @ONLY)
  endforeach()
  set(example_data "'${PROJECT_SOURCE_DIR}/examples/data'")
  set(tiny_mnist "'${CMAKE_CURRENT_BINARY_DIR}/as_cuda/mnist'")
  set(few_digits "'${CMAKE_CURRENT_BINARY_DIR}/as_cuda/digits'")
  foreach(call IN ITEMS beside_a_solver "conjugate_gradient as_cuda.npy 16" custom_layer "data_parallel as_cuda.svg"
                        distributed "heat as_cuda_heat.svg 32" hpc_arrays time_series
                        "readme ${example_data}" "quickstart ${few_digits}"
                        "from_pytorch ${example_data}/from_pytorch as_cuda.safetensors"
                        "transformer 1 100 8" "mnist --data ${tiny_mnist} --device replicated<0,1> --epochs 1"
                        "cnn ${tiny_mnist} cuda:0 1 0 1 8 16")
    string(REGEX MATCH "^[a-z_]+" name "${call}")
    string(REGEX REPLACE "<0,1>" "'<0,1>'" call "${call}")
    set(prepare "")
    if(name STREQUAL "quickstart")
      set(prepare "sh '${PROJECT_SOURCE_DIR}/examples/few_digits.sh' ${example_data} ${few_digits} &&")
    elseif(name STREQUAL "heat") # three devices
      set(prepare "export DEVPLACE_DEVICE_MAP=0:0,1:0,2:0 &&")
    elseif(name MATCHES "^(mnist|cnn)$")
      set(prepare "sh '${PROJECT_SOURCE_DIR}/examples/tiny_mnist.sh' ${tiny_mnist}_${name} &&")
      string(REPLACE "${tiny_mnist}" "${tiny_mnist}_${name}" call "${call}")
    endif()
    devplace_add_shell_test("example: ${name} on the GPU in software" cuda
                            "${prepare} exec '$<TARGET_FILE:examples_as_cuda>' ${call}")
    set_tests_properties("example: ${name} on the GPU in software" PROPERTIES COST 50) # starts long tests first
  endforeach()

  # The GPU benchmark, and programs over MPI and NCCL, compiled only for devices.
  set(benchmark ${PROJECT_SOURCE_DIR}/benchmarks/peers/gpu_cuda_bench.cpp)
  file(STRINGS ${benchmark} united REGEX "^#include ")
  set(united_bodies "namespace gpu_cuda_bench {\n#include \"${benchmark}\"\n}\n")
  if(TARGET devplace::mpi) # the CUDA part of a solver
    list(APPEND united "#include <hpc/surrogate.hpp>")
    string(APPEND united_bodies "#define HPC_DEVICE dp::cuda<0>\n#include <hpc/surrogate.cpp>\n")
  endif()
  if(TARGET devplace::nccl)
    file(STRINGS nccl/training.cpp lines REGEX "^#include ")
    list(APPEND united ${lines})
    string(APPEND united_bodies "namespace nccl_training {\n#include <nccl/training.cpp>\n}\n")
  endif()
  list(JOIN united "\n" united)
  # A function other than the program's main must return a value; nobody calls this one.
  file(GENERATE OUTPUT programs_as_cuda.cu CONTENT "${united}
#pragma nv_diag_suppress 940
#define main main_of_program
${united_bodies}")
  devplace_compile_for_devices(devplace_programs_as_cuda ${CMAKE_CURRENT_BINARY_DIR}/programs_as_cuda.cu)
  target_include_directories(devplace_programs_as_cuda PRIVATE ${PROJECT_SOURCE_DIR}/examples
                                                               ${PROJECT_SOURCE_DIR}/benchmarks)
  foreach(component IN ITEMS nccl mpi)
    if(TARGET devplace::${component})
      target_link_libraries(devplace_programs_as_cuda PRIVATE devplace_test_settings devplace::${component})
    endif()
  endforeach()
endif()

function(devplace_add_mock_cuda_test name)
  set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CUDA)
  devplace_add_test(${name} LABEL cuda COMPONENTS mock_cuda kernels_in_software software_gpu SOURCES ${ARGN})
  devplace_run_in_software(${name})
  if(name STREQUAL "test_train_mock_cuda" AND TARGET devplace::zlib)
    target_link_libraries(${name} PRIVATE devplace::zlib) # MNIST is published as .gz files
  endif()
endfunction()

function(devplace_add_cuda_test name)
  devplace_add_test(${name} LABEL cuda COMPONENTS cuda SOURCES ${ARGN})
  if(name STREQUAL "test_train_cuda" AND TARGET devplace::zlib)
    target_link_libraries(${name} PRIVATE devplace::zlib)
  endif()
  if(ARGN MATCHES "\\.cpp(;|$)")
    devplace_compile_as_cuda(${name})
  endif()
  add_dependencies(devplace_cuda_tests ${name})
endfunction()

# Without a device, all tests run on the GPU in software. Tests of areas with few tests form one program, because nvcc
# takes ten seconds even for a small source.
set(areas_with_many train nn ops)
set(of_other_areas "")
set(with_mock_of_cudnn "")
foreach(area IN LISTS areas)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${area}/*_cuda_test.cpp ${area}/*_cuda_test.cu)
  list(FILTER sources EXCLUDE REGEX "/backend/cuda/kernels/")
  if(NOT TARGET devplace::nccl)
    list(FILTER sources EXCLUDE REGEX "/nccl_[a-z_]*_cuda_test\\.cpp$")
  endif()
  set(cudnn_tests ${sources})
  list(FILTER cudnn_tests INCLUDE REGEX "/cudnn_[a-z_]*_mock_cuda_test\\.cpp$")
  list(APPEND with_mock_of_cudnn ${cudnn_tests})
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
  if(NOT DEVPLACE_TEST_WITHOUT_CUDA_DEVICE)
    list(FILTER with_mock INCLUDE REGEX "_mock_cuda_test\\.cpp$")
    list(FILTER sources EXCLUDE REGEX "_mock_cuda_test\\.cpp$")
    if(sources)
      devplace_unite_sources(sources test_${area}_cuda ${sources})
      devplace_add_cuda_test(test_${area}_cuda ${sources})
    endif()
  elseif(NOT area IN_LIST areas_with_many)
    list(APPEND of_other_areas ${sources})
    set(with_mock "")
  endif()
  if(with_mock)
    devplace_unite_sources(with_mock test_${area}_mock_cuda ${with_mock})
    devplace_add_mock_cuda_test(test_${area}_mock_cuda ${with_mock})
  endif()
endforeach()
if(of_other_areas)
  devplace_unite_sources(of_other_areas test_mock_cuda ${of_other_areas})
  devplace_add_mock_cuda_test(test_mock_cuda ${of_other_areas})
endif()
if(TARGET devplace::cudnn)
  devplace_unite_sources(with_mock_of_cudnn test_cudnn_mock_cuda ${with_mock_of_cudnn})
  devplace_add_mock_cuda_test(test_cudnn_mock_cuda ${with_mock_of_cudnn})
  target_compile_definitions(test_cudnn_mock_cuda PRIVATE DEVPLACE_WITH_CUDNN=1)
endif()

# Kernels alone, in random order of execution. Without contraction of products and sums their results have the bits of
# the CPU's loops.
file(GLOB kernel_tests CONFIGURE_DEPENDS backend/cuda/kernels/*_mock_cuda_test.cpp)
devplace_unite_sources(kernel_tests test_kernels_mock_cuda ${kernel_tests})
devplace_add_mock_cuda_test(test_kernels_mock_cuda ${kernel_tests})
target_compile_options(test_kernels_mock_cuda PRIVATE $<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:--fmad=false>)

# The machine code of kernels for Hopper. That of the oldest architecture, from the same PTX, is examined when registers
# are recorded: RECORD=1 and "sm_80 sm_90".
add_test(
  NAME "compiled code of kernels"
  COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/backend/cuda/kernels/compiled_code.sh ${CMAKE_CUDA_COMPILER} sm_90
          ${CMAKE_CURRENT_SOURCE_DIR}/backend/cuda/kernels/compiled_code.cu -I${PROJECT_SOURCE_DIR}/include
          -DDEVPLACE_WITH_CUDA=1)
# Starts this longest test first, since it would otherwise run alone at the end.
set_tests_properties("compiled code of kernels" PROPERTIES LABELS cuda TIMEOUT ${DEVPLACE_TEST_TIMEOUT} COST 100)

# g++ checks that each header compiles alone; nvcc needs to see each of them once, so one file is enough, and
# the device pass: the tests compile for both.
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
devplace_compile_for_devices(devplace_headers_as_cuda ${CMAKE_CURRENT_BINARY_DIR}/headers_as_cuda.cu)
target_link_libraries(devplace_headers_as_cuda PRIVATE ${components})

# What only nvcc's host compiler refuses, after the passes in which other programs must not compile.
set(expect "devplace: the host cannot reach the elements of this mdspan")
add_test(NAME "compile_fail: an element of a GPU's mdspan on the host"
         COMMAND ${CMAKE_COMMAND} "-DEXPECT=${expect}" -P ${CMAKE_CURRENT_SOURCE_DIR}/support/expect_failure.cmake --
                 ${CMAKE_CUDA_COMPILER} -std=c++20 -x cu -arch=sm_90 -I${PROJECT_SOURCE_DIR}/include -DDEVPLACE_WITH_CUDA=1
                 -DMDSPAN_ELEMENT_ON_THE_HOST -c ${CMAKE_CURRENT_SOURCE_DIR}/compile_fail/mdspan_cuda_host.cpp
                 -o mdspan_element.o)
set_tests_properties("compile_fail: an element of a GPU's mdspan on the host" PROPERTIES LABELS cuda
                                                                                TIMEOUT ${DEVPLACE_TEST_TIMEOUT})

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

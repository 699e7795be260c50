# SPDX-FileCopyrightText: 2026 The devplace authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Searches for components where devplace is used, not where it was packaged: this file runs in the consumer's
# find_package(devplace COMPONENTS ...), and in a build with devplace as a subdirectory.
#
#   component        target                    package           macro (1 for everything that links the target)
#   cblas            devplace::cblas           any CBLAS         DEVPLACE_WITH_CBLAS
#   zlib             devplace::zlib            zlib              DEVPLACE_WITH_ZLIB
#   mpi              devplace::mpi             any MPI           DEVPLACE_WITH_MPI
#   cuda             devplace::cuda            CUDA Toolkit      DEVPLACE_WITH_CUDA
#   nccl             devplace::nccl            NCCL, and cuda    DEVPLACE_WITH_NCCL
#   cudnn            devplace::cudnn           cuDNN, and cuda   DEVPLACE_WITH_CUDNN
#   simulated_cuda   devplace::simulated_cuda  none              DEVPLACE_WITH_SIMULATED_CUDA
#   compiled         devplace::compiled        none              DEVPLACE_WITH_COMPILED

include("${CMAKE_CURRENT_LIST_DIR}/devplace_compile_as_cuda.cmake")

# CMake's find module for BLAS finds only the library, not CBLAS's header. BLAS_LIBRARIES chooses the vendor.
function(devplace_find_cblas out_libraries out_include_dir)
  if(NOT BLAS_LIBRARIES)
    find_library(DEVPLACE_OPENBLAS_LIBRARY openblas)
    mark_as_advanced(DEVPLACE_OPENBLAS_LIBRARY)
    if(DEVPLACE_OPENBLAS_LIBRARY)
      set(BLAS_LIBRARIES ${DEVPLACE_OPENBLAS_LIBRARY})
    else()
      find_package(BLAS QUIET)
    endif()
  endif()
  find_path(DEVPLACE_CBLAS_INCLUDE_DIR cblas.h PATH_SUFFIXES openblas)
  mark_as_advanced(DEVPLACE_CBLAS_INCLUDE_DIR)
  if(BLAS_LIBRARIES AND DEVPLACE_CBLAS_INCLUDE_DIR)
    # A BLAS without the C interface would fail only when the user's program is linked, so check it here.
    include(CheckCXXSourceCompiles)
    set(CMAKE_REQUIRED_LIBRARIES ${BLAS_LIBRARIES})
    set(CMAKE_REQUIRED_INCLUDES ${DEVPLACE_CBLAS_INCLUDE_DIR})
    set(CMAKE_REQUIRED_QUIET TRUE)
    check_cxx_source_compiles("#include <cblas.h>\nint main() { return cblas_isamax(0, nullptr, 1) != 0; }"
                              DEVPLACE_CBLAS_LINKS)
  endif()
  if(DEVPLACE_CBLAS_LINKS)
    set(${out_libraries} ${BLAS_LIBRARIES} PARENT_SCOPE)
    set(${out_include_dir} ${DEVPLACE_CBLAS_INCLUDE_DIR} PARENT_SCOPE)
  endif()
endfunction()

# NCCL has no package file. It comes with some CUDA Toolkits, from NVIDIA's repository (libnccl-dev) or from PyPI.
function(devplace_find_nccl out_library out_include_dir out_version)
  find_path(DEVPLACE_NCCL_INCLUDE_DIR nccl.h HINTS ENV NCCL_HOME ENV NCCL_ROOT ${CUDAToolkit_INCLUDE_DIRS}
            PATH_SUFFIXES include)
  find_library(DEVPLACE_NCCL_LIBRARY NAMES nccl libnccl.so.2 NAMES_PER_DIR HINTS ENV NCCL_HOME ENV NCCL_ROOT
               ${CUDAToolkit_LIBRARY_DIR}
               PATH_SUFFIXES lib lib64)
  mark_as_advanced(DEVPLACE_NCCL_INCLUDE_DIR DEVPLACE_NCCL_LIBRARY)
  if(EXISTS "${DEVPLACE_NCCL_INCLUDE_DIR}/nccl.h" AND DEVPLACE_NCCL_LIBRARY)
    file(STRINGS ${DEVPLACE_NCCL_INCLUDE_DIR}/nccl.h lines REGEX "^#define NCCL_(MAJOR|MINOR|PATCH) ")
    string(REGEX REPLACE "[^0-9;]" "" numbers "${lines}")
    list(JOIN numbers "." version)
    set(${out_library} ${DEVPLACE_NCCL_LIBRARY} PARENT_SCOPE)
    set(${out_include_dir} ${DEVPLACE_NCCL_INCLUDE_DIR} PARENT_SCOPE)
    set(${out_version} ${version} PARENT_SCOPE)
  endif()
endfunction()

# cuDNN has no package file either. It comes with some CUDA Toolkits, from NVIDIA's repository (libcudnn9-dev-cuda-13),
# or from PyPI (nvidia-cudnn-cu13; then CUDNN_ROOT is the folder site-packages/nvidia/cudnn).
function(devplace_find_cudnn out_library out_include_dir out_version)
  find_path(DEVPLACE_CUDNN_INCLUDE_DIR cudnn_version.h HINTS ${CUDNN_ROOT} ENV CUDNN_ROOT ENV CUDNN_HOME
            ${CUDAToolkit_INCLUDE_DIRS} PATH_SUFFIXES include)
  find_library(DEVPLACE_CUDNN_LIBRARY NAMES cudnn libcudnn.so.9 NAMES_PER_DIR HINTS ${CUDNN_ROOT} ENV CUDNN_ROOT
               ENV CUDNN_HOME ${CUDAToolkit_LIBRARY_DIR} PATH_SUFFIXES lib lib64)
  mark_as_advanced(DEVPLACE_CUDNN_INCLUDE_DIR DEVPLACE_CUDNN_LIBRARY)
  if(EXISTS "${DEVPLACE_CUDNN_INCLUDE_DIR}/cudnn_version.h" AND DEVPLACE_CUDNN_LIBRARY)
    file(STRINGS ${DEVPLACE_CUDNN_INCLUDE_DIR}/cudnn_version.h lines REGEX "^#define CUDNN_(MAJOR|MINOR|PATCHLEVEL) ")
    string(REGEX REPLACE "[^0-9;]" "" numbers "${lines}")
    list(JOIN numbers "." version)
    set(${out_library} ${DEVPLACE_CUDNN_LIBRARY} PARENT_SCOPE)
    set(${out_include_dir} ${DEVPLACE_CUDNN_INCLUDE_DIR} PARENT_SCOPE)
    set(${out_version} ${version} PARENT_SCOPE)
  endif()
endfunction()

# devplace_add_compiled_library(<target> <source's number> <header>...) makes a static library of component compiled, or
# adds a source to it. The library is built where it is used, with the compiler and the flags of its user, and optimised
# in debug builds, too, so that they have fast kernels. Only programs that link the library build it.
function(devplace_add_compiled_library target number)
  set(source ${CMAKE_BINARY_DIR}/devplace_compiled/${number}.cpp)
  list(TRANSFORM ARGN REPLACE "(.+)" "#include <devplace/\\1.hpp>\n")
  list(JOIN ARGN "" includes)
  file(CONFIGURE OUTPUT ${source} CONTENT "#define DEVPLACE_COMPILES ${number}\n${includes}")
  if(TARGET ${target})
    target_sources(${target} PRIVATE ${source})
    return()
  endif()
  add_library(${target} STATIC EXCLUDE_FROM_ALL ${source})
  target_link_libraries(${target} PRIVATE devplace::devplace)
  # Without optimisation or with sanitizers, clang would warn of loops that it does not vectorise.
  target_compile_options(${target} PRIVATE -ffunction-sections
                                           $<$<CXX_COMPILER_ID:Clang,AppleClang>:-Wno-pass-failed>)
  if(NOT CMAKE_CXX_FLAGS MATCHES "-O[1-3s]")
    target_compile_options(${target} PRIVATE $<$<OR:$<CONFIG:>,$<CONFIG:Debug>>:-O2>)
  endif()
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON DISABLE_PRECOMPILE_HEADERS ON
                                             UNITY_BUILD OFF) # each source has its own value of the macro
endfunction()

# devplace_find_components(<component>...) creates target devplace::<component> and sets devplace_<component>_FOUND for
# each component on this machine, and sets devplace_<component>_NOT_FOUND_MESSAGE for each missing one.
function(devplace_find_components)
  set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL TRUE) # devplace::<component> is global, so its dependencies must be, too
  foreach(component IN LISTS ARGN)
    set(libraries "")
    set(include_dirs "")
    set(missing "")
    if(component STREQUAL "cblas")
      devplace_find_cblas(libraries include_dirs)
      if(NOT libraries)
        set(missing "no library with CBLAS (cblas.h and cblas_sgemm). Debian: apt-get install libopenblas-dev; "
                    "elsewhere set BLAS_LIBRARIES and DEVPLACE_CBLAS_INCLUDE_DIR.")
      endif()
    elseif(component STREQUAL "zlib")
      find_package(ZLIB QUIET)
      set(libraries ZLIB::ZLIB)
      if(NOT TARGET ZLIB::ZLIB)
        set(missing "no zlib. Debian: apt-get install zlib1g-dev; elsewhere set ZLIB_ROOT.")
      endif()
    elseif(component STREQUAL "mpi")
      # FindMPI's own variables choose between several MPIs: MPI_CXX_COMPILER, MPI_HOME, or Debian's suffix.
      find_package(MPI QUIET COMPONENTS CXX)
      set(libraries MPI::MPI_CXX)
      if(NOT TARGET MPI::MPI_CXX)
        set(missing "no MPI. Debian: apt-get install libopenmpi-dev openmpi-bin, or libmpich-dev mpich; elsewhere set "
                    "MPI_HOME or MPI_CXX_COMPILER.")
      endif()
    elseif(component STREQUAL "cuda")
      find_package(CUDAToolkit QUIET)
      set(libraries CUDA::cudart_static CUDA::cublasLt $<TARGET_NAME_IF_EXISTS:devplace_compiled_of_cuda>)
      if(NOT TARGET CUDA::cudart_static OR NOT TARGET CUDA::cublasLt)
        set(missing "no CUDA Toolkit with cudart and cublasLt. Install it or set CUDAToolkit_ROOT; "
                    "component simulated_cuda runs the same placements without it.")
      elseif(CUDAToolkit_VERSION VERSION_LESS 12.4)
        set(missing "CUDA Toolkit ${CUDAToolkit_VERSION} is older than 12.4. Install a newer one, or set "
                    "CUDAToolkit_ROOT to it; component simulated_cuda runs the same placements without it.")
      else()
        # Since CUDA 13 libcu++ is in a folder that only nvcc searches by default; C++ files need the folder explicitly.
        foreach(dir IN LISTS CUDAToolkit_INCLUDE_DIRS)
          if(IS_DIRECTORY "${dir}/cccl")
            list(APPEND include_dirs "${dir}/cccl")
          endif()
        endforeach()
      endif()
    elseif(component STREQUAL "nccl")
      devplace_find_components(cuda)
      if(NOT devplace_cuda_FOUND)
        set(missing "it needs component cuda. ${devplace_cuda_NOT_FOUND_MESSAGE}")
      else()
        find_package(CUDAToolkit QUIET)
        devplace_find_nccl(libraries include_dirs nccl_version)
        if(NOT libraries)
          set(missing "no NCCL (nccl.h and libnccl.so). Install libnccl-dev from NVIDIA's repository, or set NCCL_HOME, "
                      "or both DEVPLACE_NCCL_INCLUDE_DIR and DEVPLACE_NCCL_LIBRARY.")
        elseif(nccl_version VERSION_LESS 2.27)
          set(missing "NCCL ${nccl_version} is older than 2.27. Install a newer one, or set NCCL_HOME to it.")
          unset(DEVPLACE_NCCL_INCLUDE_DIR CACHE) # so that the next run searches again
          unset(DEVPLACE_NCCL_LIBRARY CACHE)
        endif()
        list(APPEND libraries devplace::cuda)
      endif()
    elseif(component STREQUAL "cudnn")
      devplace_find_components(cuda)
      if(NOT devplace_cuda_FOUND)
        set(missing "it needs component cuda. ${devplace_cuda_NOT_FOUND_MESSAGE}")
      else()
        find_package(CUDAToolkit QUIET)
        devplace_find_cudnn(libraries include_dirs cudnn_version)
        if(NOT libraries)
          set(missing "no cuDNN (cudnn_graph.h and libcudnn.so). Install libcudnn9-dev-cuda-13 from NVIDIA's repository "
                      "or nvidia-cudnn-cu13 from PyPI and set CUDNN_ROOT to its folder, or set both "
                      "DEVPLACE_CUDNN_INCLUDE_DIR and DEVPLACE_CUDNN_LIBRARY.")
        elseif(cudnn_version VERSION_LESS 9)
          set(missing "cuDNN ${cudnn_version} is older than 9. Install a newer one, or set CUDNN_ROOT to it.")
          unset(DEVPLACE_CUDNN_INCLUDE_DIR CACHE) # so that the next run searches again
          unset(DEVPLACE_CUDNN_LIBRARY CACHE)
        endif()
        list(APPEND libraries devplace::cuda)
      endif()
    elseif(component STREQUAL "compiled")
      if(NOT TARGET devplace_compiled)
        devplace_add_compiled_library(devplace_compiled 1 all attention convolution)
        devplace_add_compiled_library(devplace_compiled 2 backend/cpu/detail/convolution_kernels)
        target_link_options(devplace_compiled INTERFACE -Wl,--gc-sections)
      endif()
      set(libraries devplace_compiled)
    elseif(NOT component STREQUAL "simulated_cuda")
      set(missing "it has no component of that name, only cblas, zlib, mpi, cuda, nccl, cudnn, simulated_cuda and "
                  "compiled.")
    endif()

    if(missing)
      string(CONCAT missing ${missing})
      set(devplace_${component}_FOUND FALSE PARENT_SCOPE)
      set(devplace_${component}_NOT_FOUND_MESSAGE "devplace: component '${component}' cannot be had: ${missing}"
          PARENT_SCOPE)
      continue()
    endif()
    set(devplace_${component}_FOUND TRUE PARENT_SCOPE)
    if(NOT TARGET devplace::${component})
      string(TOUPPER ${component} macro)
      add_library(devplace::${component} INTERFACE IMPORTED GLOBAL)
      target_link_libraries(devplace::${component} INTERFACE devplace::devplace ${libraries})
      target_include_directories(devplace::${component} INTERFACE ${include_dirs})
      target_compile_definitions(devplace::${component} INTERFACE DEVPLACE_WITH_${macro}=1)
      if(component STREQUAL "cuda")
        # nvcc defaults to C++17, and CMake before 3.25.2 does not know nvcc's flag for C++20.
        target_compile_options(devplace::cuda INTERFACE $<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:-std=c++20>)
      endif()
      if(component MATCHES "cuda$")
        # A program can have only one backend for cuda<I>. CMake reports two backends if it sees both, otherwise the
        # linker does.
        set_target_properties(devplace::${component} PROPERTIES COMPATIBLE_INTERFACE_STRING DEVPLACE_CUDA_BACKEND
                                                                INTERFACE_DEVPLACE_CUDA_BACKEND ${component})
      endif()
    endif()
  endforeach()
  if(TARGET devplace::cuda AND TARGET devplace::compiled AND NOT TARGET devplace_compiled_of_cuda)
    find_package(CUDAToolkit QUIET) # its targets may be of another directory, as devplace::cuda may
    devplace_add_compiled_library(devplace_compiled_of_cuda 3 backend/cuda/memory backend/cuda/product_plan)
    target_compile_definitions(devplace_compiled_of_cuda PRIVATE DEVPLACE_WITH_CUDA=1)
    target_link_libraries(devplace_compiled_of_cuda PRIVATE CUDA::cudart_static CUDA::cublasLt)
  endif()
endfunction()

# Needs no package, so that its target always exists.
devplace_find_components(simulated_cuda)

option(DEVPLACE_PRECOMPILE_HEADERS "Precompile devplace/all.hpp for each target that links devplace" OFF)
if(DEVPLACE_PRECOMPILE_HEADERS)
  get_target_property(target devplace::devplace ALIASED_TARGET)
  if(NOT target)
    set(target devplace::devplace) # of an installed package
  endif()
  set_property(TARGET ${target} PROPERTY INTERFACE_PRECOMPILE_HEADERS
                                         "$<BUILD_INTERFACE:$<$<COMPILE_LANGUAGE:CXX>:<devplace/all.hpp$<ANGLE-R>>>")
endif()

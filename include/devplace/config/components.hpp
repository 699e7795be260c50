// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Part of config.hpp: selects the headers that implement operations with the components of this translation unit.

#if defined(DEVPLACE_WITH_CUDA) && defined(DEVPLACE_WITH_SIMULATED_CUDA)
  #error "devplace: the components cuda and simulated_cuda exclude each other; link one of them."
#endif

// Selects implementations that use optional components; each has an alternative without the component.
#if defined(DEVPLACE_WITH_CBLAS)
  #define DEVPLACE_CBLAS_ENGINE <devplace/backend/cpu/gemm_cblas.hpp>
  #define DEVPLACE_DETAIL_MATRIX_LIBRARY cblas
#else
  #define DEVPLACE_CBLAS_ENGINE <devplace/backend/none/kernels.hpp>
  #define DEVPLACE_DETAIL_MATRIX_LIBRARY built_in
#endif
#if defined(DEVPLACE_WITH_CUDNN) && defined(DEVPLACE_WITH_CUDA) && defined(__CUDACC__)
  #define DEVPLACE_CUDNN_ENGINE(name) <devplace/backend/cuda/cudnn_##name.hpp>
  #define DEVPLACE_DETAIL_CONVOLUTION_LIBRARY cudnn
#else
  #define DEVPLACE_CUDNN_ENGINE(name) <devplace/backend/none/kernels.hpp>
  #define DEVPLACE_DETAIL_CONVOLUTION_LIBRARY built_in
#endif
#if defined(DEVPLACE_WITH_ZLIB)
  #define DEVPLACE_INFLATE_READERS <devplace/io/detail/inflate_zlib.hpp>
#else
  #define DEVPLACE_INFLATE_READERS <devplace/io/detail/inflate_absent.hpp>
#endif

// The headers of this translation unit's devices; an empty header if it has no devices.
#if defined(DEVPLACE_WITH_SIMULATED_CUDA)
  #define DEVPLACE_BACKENDS(name) <devplace/backend/simulated/kernels.hpp>
  #define DEVPLACE_DEVICES(name) <devplace/backend/simulated/name.hpp>
#elif defined(DEVPLACE_WITH_CUDA) && defined(__CUDACC__)
  #define DEVPLACE_BACKENDS(name) <devplace/backend/cuda/name.cuh>
  #define DEVPLACE_DEVICES(name) <devplace/backend/cuda/name.hpp>
#elif defined(DEVPLACE_WITH_CUDA)
  #define DEVPLACE_BACKENDS(name) <devplace/backend/none/kernels.hpp>
  #define DEVPLACE_DEVICES(name) <devplace/backend/cuda/name.hpp>
#else
  /// The header of operation `name` on devices: its implementation, or kernels that call its functors.
  #define DEVPLACE_BACKENDS(name) <devplace/backend/none/kernels.hpp>
  /// The header of a group of device functions that need no kernels: `device_query`, `memory`, `streams`, `events`,
  /// `ipc`.
  #define DEVPLACE_DEVICES(name) <devplace/backend/none/kernels.hpp>
#endif

// Real and simulated CUDA in one program would violate the ODR. Object files of the two kinds define this absolute
// symbol with different values, and the linker rejects duplicate definitions unless their values agree. With link-time
// optimisation, one assembler run processes all files and would silently keep the last value; `.error` reports the
// conflict there.
#if (defined(DEVPLACE_WITH_CUDA) || defined(DEVPLACE_WITH_SIMULATED_CUDA)) && !defined(__CUDA_ARCH__)
  #if defined(DEVPLACE_WITH_CUDA)
    #define DEVPLACE_DETAIL_KIND "1"
  #else
    #define DEVPLACE_DETAIL_KIND "2"
  #endif
__asm__(
    ".globl devplace_cuda_backend_must_be_the_same_in_every_file\n"
    ".ifdef devplace_cuda_backend_must_be_the_same_in_every_file\n"
    ".if devplace_cuda_backend_must_be_the_same_in_every_file - " DEVPLACE_DETAIL_KIND
    "\n"
    ".error \"devplace_cuda_backend_must_be_the_same_in_every_file: real and simulated CUDA meet in one program\"\n"
    ".endif\n"
    ".endif\n"
    ".set devplace_cuda_backend_must_be_the_same_in_every_file, " DEVPLACE_DETAIL_KIND "\n");
  #undef DEVPLACE_DETAIL_KIND
#endif

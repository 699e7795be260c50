// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Only this file and the folder config/ test the macros of the compiler and of components (optional parts of devplace
// that a program links, such as devplace::cuda).
//
// Files of one program may be compiled with different components. Public types are equal in all files, so files can
// exchange tensors and models. Bodies of functions differ and need different mangled names; otherwise the linker would
// keep one body for all files. The macro DEVPLACE_CONFIGURATION names the configuration of a translation unit. The
// mangled name of every function whose body depends on the configuration contains this name, in one of three ways:
//
// - Free functions and internal class templates are in `inline namespace DEVPLACE_CONFIGURATION`, their innermost
//   namespace; callers do not write its name. A single function may begin with DEVPLACE_CONFIGURED instead. State of
//   the process (statistics, the device map, pools, streams) is outside of this namespace, so that it exists once.
// - The tags in `devplace::backend` are in such an inline namespace too. The mangled name of a template with a backend
//   argument (a layer, optimizer rule, loss or communicator) contains the tag's name, so the template needs no change.
// - Public class templates are outside of the inline namespace; their member functions begin with DEVPLACE_CONFIGURED.
//
// Data members of public classes have public types or are behind an opaque handle, so that every file has equal
// classes.

// Including a header that does not exist ends the compilation without further errors.
#if __cplusplus < 202002L
  #error "devplace: the library needs C++20; compile with -std=c++20 or later (CMake: the feature cxx_std_20)."
  #include <devplace/see_the_error_above>
#elif defined(__clang__) && __clang_major__ < 16
  #error \
      "devplace: the library needs clang++ 16 or later, or g++ 12 or later (Debian 12: apt-get install clang-16, and CXX=clang++-16)."
  #include <devplace/see_the_error_above>
#elif !defined(__cpp_exceptions)
  #error "devplace: the library reports errors by exceptions; compile files that include it without -fno-exceptions."
  #include <devplace/see_the_error_above>
#endif

#include <devplace/config/compiled.hpp>
#include <devplace/config/components.hpp>
#include <devplace/config/functions.hpp>
#include <devplace/config/loops.hpp>
#include <devplace/version.hpp>

// DEVPLACE_CHECK_BOUNDS: whether element access and extent() of tensors and views check their arguments. The value is a
// template argument of these functions, so that files with and without checks can be linked.
#if !defined(DEVPLACE_CHECK_BOUNDS)
  #if defined(NDEBUG)
    #define DEVPLACE_CHECK_BOUNDS 0
  #else
    /// 1 enables the checks, the default without NDEBUG; 0 disables them. May be defined for a file or a program.
    #define DEVPLACE_CHECK_BOUNDS 1
  #endif
#endif

// Simulated devices protect their memory from the host in debug builds only, and not under sanitizers, which check
// memory themselves.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  #define DEVPLACE_DETAIL_SANITIZED 1
#elif defined(__has_feature)
  #if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    #define DEVPLACE_DETAIL_SANITIZED 1
  #endif
#endif

// DEVPLACE_CONFIGURATION names the inline namespace of this translation unit's configuration.
#if defined(DEVPLACE_WITH_CBLAS) && defined(DEVPLACE_WITH_ZLIB)
  #define DEVPLACE_DETAIL_WITH_LIBRARIES(cuda) cuda##_with_cblas_and_zlib
#elif defined(DEVPLACE_WITH_CBLAS)
  #define DEVPLACE_DETAIL_WITH_LIBRARIES(cuda) cuda##_with_cblas
#elif defined(DEVPLACE_WITH_ZLIB)
  #define DEVPLACE_DETAIL_WITH_LIBRARIES(cuda) cuda##_with_zlib
#else
  #define DEVPLACE_DETAIL_WITH_LIBRARIES(cuda) cuda
#endif
#if defined(DEVPLACE_WITH_SIMULATED_CUDA) && !defined(NDEBUG) && !defined(DEVPLACE_DETAIL_SANITIZED)
  #define DEVPLACE_DETAIL_CUDA_SUPPORT simulated
  #define DEVPLACE_DETAIL_CHECKED true
  #define DEVPLACE_CONFIGURATION DEVPLACE_DETAIL_WITH_LIBRARIES(checked_simulated_cuda)
#elif defined(DEVPLACE_WITH_SIMULATED_CUDA)
  #define DEVPLACE_DETAIL_CUDA_SUPPORT simulated
  #define DEVPLACE_CONFIGURATION DEVPLACE_DETAIL_WITH_LIBRARIES(simulated_cuda)
#elif defined(DEVPLACE_WITH_CUDA) && defined(__CUDACC__) && defined(DEVPLACE_WITH_CUDNN)
  #define DEVPLACE_DETAIL_CUDA_SUPPORT full
  #define DEVPLACE_CONFIGURATION DEVPLACE_DETAIL_WITH_LIBRARIES(full_cuda_and_cudnn)
#elif defined(DEVPLACE_WITH_CUDA) && defined(__CUDACC__)
  #define DEVPLACE_DETAIL_CUDA_SUPPORT full
  #define DEVPLACE_CONFIGURATION DEVPLACE_DETAIL_WITH_LIBRARIES(full_cuda)
#elif defined(DEVPLACE_WITH_CUDA)
  #define DEVPLACE_DETAIL_CUDA_SUPPORT host_only
  #define DEVPLACE_CONFIGURATION DEVPLACE_DETAIL_WITH_LIBRARIES(host_only_cuda)
#else
  #define DEVPLACE_DETAIL_CUDA_SUPPORT none
  #define DEVPLACE_CONFIGURATION DEVPLACE_DETAIL_WITH_LIBRARIES(no_cuda)
#endif
#if !defined(DEVPLACE_DETAIL_CHECKED)
  #define DEVPLACE_DETAIL_CHECKED false
#endif

// nvcc copies member templates in each instantiation of their class template and then warns about the attribute
// abi_tag. The mangled names have the tag nevertheless.
#if defined(__CUDACC__)
  #pragma nv_diag_suppress 2648, 2651
#endif
#define DEVPLACE_DETAIL_TEXT_OF(name) #name
#define DEVPLACE_DETAIL_TEXT(name) DEVPLACE_DETAIL_TEXT_OF(name)
/// Marks a function, such as a member of a public class: adds the configuration to the mangled name, as `inline
/// namespace DEVPLACE_CONFIGURATION` does for free functions.
#if defined(__CUDACC__) && defined(__clang__)
  // With clang as its host compiler, nvcc rejects the standard form of the attribute at templates that are
  // conditionally explicit, and generates designated initializers in a form that clang warns of.
  #define DEVPLACE_CONFIGURED __attribute__((abi_tag(DEVPLACE_DETAIL_TEXT(DEVPLACE_CONFIGURATION))))
  #pragma clang diagnostic ignored "-Wgnu-designator"
#else
  #define DEVPLACE_CONFIGURED [[gnu::abi_tag(DEVPLACE_DETAIL_TEXT(DEVPLACE_CONFIGURATION))]]
#endif

namespace devplace::detail {

/// What a translation unit can do with cuda places.
enum class cuda_support : unsigned char {
  none,       ///< only name them
  simulated,  ///< everything, on host memory
  host_only,  ///< memory and copies: component cuda is linked, but the file is compiled as C++
  full        ///< everything: component cuda, compiled as CUDA
};

/// The library that multiplies matrices on the CPU.
enum class matrix_library : unsigned char { built_in, cblas };

/// The library that convolves on GPUs; built_in unfolds images and multiplies matrices with cuBLASLt.
enum class convolution_library : unsigned char { built_in, cudnn };

inline namespace DEVPLACE_CONFIGURATION {

/// What this translation unit was compiled with.
struct configuration {
  static constexpr cuda_support cuda = cuda_support::DEVPLACE_DETAIL_CUDA_SUPPORT;
  static constexpr matrix_library matrix = matrix_library::DEVPLACE_DETAIL_MATRIX_LIBRARY;
  static constexpr convolution_library convolution = convolution_library::DEVPLACE_DETAIL_CONVOLUTION_LIBRARY;
  /// The GPUs for which nvcc compiles, in ascending order: 800 for compute capability 8.0.
#if defined(__CUDA_ARCH_LIST__)
  static constexpr int architectures[] = {__CUDA_ARCH_LIST__};
#else
  static constexpr int architectures[] = {0};
#endif
  /// Whether the memory of simulated devices is protected from the host. A program that reads this memory directly then
  /// fails, as with a GPU.
  static constexpr bool checked = DEVPLACE_DETAIL_CHECKED;
};

}  // namespace DEVPLACE_CONFIGURATION

}  // namespace devplace::detail

#undef DEVPLACE_DETAIL_CHECKED
#undef DEVPLACE_DETAIL_SANITIZED
#undef DEVPLACE_DETAIL_CUDA_SUPPORT
#undef DEVPLACE_DETAIL_MATRIX_LIBRARY
#undef DEVPLACE_DETAIL_CONVOLUTION_LIBRARY

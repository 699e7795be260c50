// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// The only file that looks at the compiler and at the components' macros.
//
// Files of one program may be compiled with different components. Public types are the same in all of them, so that
// tensors and models can be passed from one to the other; bodies of functions differ, and must not have the same
// mangled name, or the linker would keep one of them for all files. So the configuration of a translation unit has a
// name, DEVPLACE_CONFIGURATION, and is part of every function whose body depends on it, in one of three ways:
//
// - Functions, and internal class templates, lie in `inline namespace DEVPLACE_CONFIGURATION`, the innermost namespace
//   around them. Users call them as if it were not there. State of the process (statistics, the device map, pools,
//   streams) lies outside of it: it is there once.
// - The tags in `devplace::backend` lie in such a namespace too, so a template on a backend needs nothing else: layers,
//   optimizer rules, losses and communicators, those of users included, are given a backend.
// - Members of public class templates, which lie outside, have one more template parameter with a default:
//   `template <detail::configured = detail::configuration>`.
//
// Members of public classes are of public types, or behind an opaque handle, so that the classes stay the same.

#include <concepts>

#include <devplace/version.hpp>

#if defined(DEVPLACE_WITH_CUDA) && defined(DEVPLACE_WITH_SIMULATED_CUDA)
  #error "devplace: the components cuda and simulated_cuda exclude each other; link one of them."
#endif

#if defined(__CUDACC__)
  #define DEVPLACE_HD __host__ __device__
#else
  /// Marks functions that kernels call as well as the host.
  #define DEVPLACE_HD
#endif

#if defined(__CUDACC__)
  #define DEVPLACE_DEVICE __device__
  #define DEVPLACE_DEVICE_UNROLL _Pragma("unroll")
#else
  /// Marks the bodies of kernels, which the host calls only where it emulates a GPU.
  #define DEVPLACE_DEVICE
  /// Before a loop of such a body whose arrays are to lie in registers.
  #define DEVPLACE_DEVICE_UNROLL
#endif

#if defined(__CUDA_ARCH__)
  #define DEVPLACE_IF_HOST(...)
#else
  /// What a DEVPLACE_HD function does on the host only, such as throwing.
  #define DEVPLACE_IF_HOST(...) __VA_ARGS__
#endif

// nvcc's front end does not know pragmas that it hands on to the host compiler.
#if defined(__CUDACC__)
  #define DEVPLACE_HOST_PRAGMAS_BEGIN _Pragma("nv_diagnostic push") _Pragma("nv_diag_suppress 1675")
  #define DEVPLACE_HOST_PRAGMAS_END _Pragma("nv_diagnostic pop")
#else
  #define DEVPLACE_HOST_PRAGMAS_BEGIN
  #define DEVPLACE_HOST_PRAGMAS_END
#endif

// Before a loop over registers, which must be unrolled in full; -O2 alone does not do it.
#if defined(__clang__)
  #define DEVPLACE_UNROLL _Pragma("clang loop unroll(full)")
#else
  #define DEVPLACE_UNROLL _Pragma("GCC unroll 32")
#endif

// What components bring to functions that have a body without them too.
#if defined(DEVPLACE_WITH_CBLAS)
  #define DEVPLACE_CBLAS_ENGINE <devplace/backend/cpu/gemm_cblas.hpp>
#else
  #define DEVPLACE_CBLAS_ENGINE <devplace/backend/none/kernels.hpp>
#endif
#if defined(DEVPLACE_WITH_ZLIB)
  #define DEVPLACE_GZIP_READER <devplace/io/detail/gzip_zlib.hpp>
#else
  #define DEVPLACE_GZIP_READER <devplace/io/detail/gzip_absent.hpp>
#endif

// Around a loop no iteration of which writes what another one reads or writes: the compiler may form vectors without
// comparing pointers.
#if defined(__clang__)
  #define DEVPLACE_INDEPENDENT_ITERATIONS_BEGIN                                            \
    _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wpass-failed\"") \
        _Pragma("clang loop vectorize(assume_safety)")
  #define DEVPLACE_INDEPENDENT_ITERATIONS_END _Pragma("clang diagnostic pop")
#elif defined(__GNUC__)
  #define DEVPLACE_INDEPENDENT_ITERATIONS_BEGIN _Pragma("GCC ivdep")
  #define DEVPLACE_INDEPENDENT_ITERATIONS_END
#else
  #define DEVPLACE_INDEPENDENT_ITERATIONS_BEGIN
  #define DEVPLACE_INDEPENDENT_ITERATIONS_END
#endif

// Around a function with such a loop over code that nobody knows here, a user's functor or std::exp. Where clang can
// form no vectors it warns, at the function into which the loop was inlined, which may be the user's; so the function
// is kept whole and the warning is off in it.
#if defined(__clang__)
  #define DEVPLACE_ANY_LOOP_BODY_BEGIN \
    _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wpass-failed\"")
  #define DEVPLACE_ANY_LOOP_BODY_END _Pragma("clang diagnostic pop")
  #define DEVPLACE_KEPT_WHOLE __attribute__((noinline))
#else
  #define DEVPLACE_ANY_LOOP_BODY_BEGIN
  #define DEVPLACE_ANY_LOOP_BODY_END
  #define DEVPLACE_KEPT_WHOLE
#endif

#if defined(DEVPLACE_WITH_SIMULATED_CUDA)
  #define DEVPLACE_CUDA_BACKEND(name) <devplace/backend/simulated/kernels.hpp>
  #define DEVPLACE_CUDA_MEMORY <devplace/backend/simulated/memory.hpp>
  #define DEVPLACE_CUDA_DEVICES <devplace/backend/simulated/device_query.hpp>
  #define DEVPLACE_CUDA_EVENTS <devplace/backend/simulated/events.hpp>
  #define DEVPLACE_CUDA_STREAMS <devplace/backend/simulated/streams.hpp>
#elif defined(DEVPLACE_WITH_CUDA) && defined(__CUDACC__)
  #define DEVPLACE_CUDA_BACKEND(name) <devplace/backend/cuda/name.cuh>
  #define DEVPLACE_CUDA_MEMORY <devplace/backend/cuda/memory.hpp>
  #define DEVPLACE_CUDA_DEVICES <devplace/backend/cuda/device_query.hpp>
  #define DEVPLACE_CUDA_EVENTS <devplace/backend/cuda/events.hpp>
  #define DEVPLACE_CUDA_STREAMS <devplace/backend/cuda/streams.hpp>
#elif defined(DEVPLACE_WITH_CUDA)
  #define DEVPLACE_CUDA_BACKEND(name) <devplace/backend/none/kernels.hpp>
  #define DEVPLACE_CUDA_MEMORY <devplace/backend/cuda/memory.hpp>
  #define DEVPLACE_CUDA_DEVICES <devplace/backend/cuda/device_query.hpp>
  #define DEVPLACE_CUDA_EVENTS <devplace/backend/cuda/events.hpp>
  #define DEVPLACE_CUDA_STREAMS <devplace/backend/cuda/streams.hpp>
#else
  /// The header that implements operation `name` on cuda places in this translation unit; empty where none can.
  #define DEVPLACE_CUDA_BACKEND(name) <devplace/backend/none/kernels.hpp>
  /// The header that allocates and copies memory of cuda places in this translation unit; empty where none can.
  #define DEVPLACE_CUDA_MEMORY <devplace/backend/none/kernels.hpp>
  /// The header that counts and describes the devices behind cuda places; empty where there can be none.
  #define DEVPLACE_CUDA_DEVICES <devplace/backend/none/kernels.hpp>
  /// The header with the events of cuda places in this translation unit; empty where there can be none.
  #define DEVPLACE_CUDA_EVENTS <devplace/backend/none/kernels.hpp>
  /// The header with the streams of cuda places in this translation unit; empty where there can be none.
  #define DEVPLACE_CUDA_STREAMS <devplace/backend/none/kernels.hpp>
#endif

// Real and simulated CUDA in one program would give one name two meanings. Both kinds of object file define this
// absolute symbol, with different values, and the linker refuses to see it twice unless the values agree. With
// link-time optimisation all files go through one assembler run, which would take the last value: hence the check.
#if !defined(__CUDA_ARCH__)
  #if defined(DEVPLACE_WITH_CUDA)
__asm__(
    ".globl devplace_cuda_backend_must_be_the_same_in_every_file\n"
    ".ifdef devplace_cuda_backend_must_be_the_same_in_every_file\n"
    ".if devplace_cuda_backend_must_be_the_same_in_every_file - 1\n"
    ".error \"devplace_cuda_backend_must_be_the_same_in_every_file: real and simulated CUDA meet in one program\"\n"
    ".endif\n"
    ".endif\n"
    ".set devplace_cuda_backend_must_be_the_same_in_every_file, 1\n");
  #elif defined(DEVPLACE_WITH_SIMULATED_CUDA)
__asm__(
    ".globl devplace_cuda_backend_must_be_the_same_in_every_file\n"
    ".ifdef devplace_cuda_backend_must_be_the_same_in_every_file\n"
    ".if devplace_cuda_backend_must_be_the_same_in_every_file - 2\n"
    ".error \"devplace_cuda_backend_must_be_the_same_in_every_file: real and simulated CUDA meet in one program\"\n"
    ".endif\n"
    ".endif\n"
    ".set devplace_cuda_backend_must_be_the_same_in_every_file, 2\n");
  #endif
#endif

// In debug builds; the sanitizers have their own view of memory, and find more.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  #define DEVPLACE_DETAIL_SANITIZED 1
#elif defined(__has_feature)
  #if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    #define DEVPLACE_DETAIL_SANITIZED 1
  #endif
#endif

// DEVPLACE_CONFIGURATION names the inline namespace of this translation unit's configuration.
#if defined(DEVPLACE_WITH_CBLAS)
  #define DEVPLACE_DETAIL_MATRIX_LIBRARY cblas
  #define DEVPLACE_DETAIL_WITH_LIBRARIES(cuda) cuda##_with_cblas
#else
  #define DEVPLACE_DETAIL_MATRIX_LIBRARY built_in
  #define DEVPLACE_DETAIL_WITH_LIBRARIES(cuda) cuda
#endif
#if defined(DEVPLACE_WITH_SIMULATED_CUDA) && !defined(NDEBUG) && !defined(DEVPLACE_DETAIL_SANITIZED)
  #define DEVPLACE_DETAIL_CUDA_SUPPORT simulated
  #define DEVPLACE_DETAIL_CHECKED true
  #define DEVPLACE_CONFIGURATION DEVPLACE_DETAIL_WITH_LIBRARIES(checked_simulated_cuda)
#elif defined(DEVPLACE_WITH_SIMULATED_CUDA)
  #define DEVPLACE_DETAIL_CUDA_SUPPORT simulated
  #define DEVPLACE_DETAIL_CHECKED false
  #define DEVPLACE_CONFIGURATION DEVPLACE_DETAIL_WITH_LIBRARIES(simulated_cuda)
#elif defined(DEVPLACE_WITH_CUDA) && defined(__CUDACC__)
  #define DEVPLACE_DETAIL_CUDA_SUPPORT full
  #define DEVPLACE_DETAIL_CHECKED false
  #define DEVPLACE_CONFIGURATION DEVPLACE_DETAIL_WITH_LIBRARIES(full_cuda)
#elif defined(DEVPLACE_WITH_CUDA)
  #define DEVPLACE_DETAIL_CUDA_SUPPORT host_only
  #define DEVPLACE_DETAIL_CHECKED false
  #define DEVPLACE_CONFIGURATION DEVPLACE_DETAIL_WITH_LIBRARIES(host_only_cuda)
#else
  #define DEVPLACE_DETAIL_CUDA_SUPPORT none
  #define DEVPLACE_DETAIL_CHECKED false
  #define DEVPLACE_CONFIGURATION DEVPLACE_DETAIL_WITH_LIBRARIES(no_cuda)
#endif

namespace devplace::detail {

/// How a translation unit can work with cuda places.
enum class cuda_support : unsigned char {
  none,       ///< it can name them
  simulated,  ///< everything, on host memory
  host_only,  ///< memory and copies: component cuda is linked, but the file is compiled as C++
  full        ///< everything: component cuda, compiled as CUDA
};

/// Which library multiplies matrices on the CPU.
enum class matrix_library : unsigned char { built_in, cblas };

inline namespace DEVPLACE_CONFIGURATION {

/// What this translation unit was compiled with.
struct configuration {
  static constexpr cuda_support cuda = cuda_support::DEVPLACE_DETAIL_CUDA_SUPPORT;
  static constexpr matrix_library matrix = matrix_library::DEVPLACE_DETAIL_MATRIX_LIBRARY;
  /// The memory of simulated devices is out of the host's reach, so that a program that reads it directly fails as
  /// with a GPU.
  static constexpr bool checked = DEVPLACE_DETAIL_CHECKED;
};

/// Constrains the last resort of members, `template <detail::configured = detail::configuration>`: no argument of a
/// user's can be deduced to it, and no other type can be given.
template <class T>
concept configured = std::same_as<T, configuration>;

}  // namespace DEVPLACE_CONFIGURATION

}  // namespace devplace::detail

#undef DEVPLACE_DETAIL_CHECKED
#undef DEVPLACE_DETAIL_SANITIZED
#undef DEVPLACE_DETAIL_CUDA_SUPPORT
#undef DEVPLACE_DETAIL_MATRIX_LIBRARY

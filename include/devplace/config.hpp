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
// - Functions, and internal class templates, are in `inline namespace DEVPLACE_CONFIGURATION`, the innermost namespace
//   around them; callers do not name it. State of the process (statistics, the device map, pools, streams) is outside
//   of it, so that it exists once.
// - The tags in `devplace::backend` are in such a namespace too, so a template on a backend needs nothing else: layers,
//   optimizer rules, losses and communicators, including users' ones, are given a backend.
// - Members of public class templates, which are outside of it, have one more template parameter with a default:
//   `template <detail::configured = detail::configuration>`.
//
// Members of public classes have public types or are behind an opaque handle, so that the classes stay the same.

// The header that does not exist ends the compilation, so that no other errors follow.
#if __cplusplus < 202002L
  #error "devplace: the library needs C++20; compile with -std=c++20 or later (CMake: the feature cxx_std_20)."
  #include <devplace/see_the_error_above>
#elif !defined(__cpp_exceptions)
  #error "devplace: the library reports errors by exceptions; compile files that include it without -fno-exceptions."
  #include <devplace/see_the_error_above>
#endif

#include <concepts>

#include <devplace/version.hpp>

#if defined(DEVPLACE_WITH_CUDA) && defined(DEVPLACE_WITH_SIMULATED_CUDA)
  #error "devplace: the components cuda and simulated_cuda exclude each other; link one of them."
#endif

// nvcc's front end warns about pragmas that are meant for the host compiler, and where a reference to a class that is
// not to be discarded is returned and not used, as by every assignment.
#if defined(__CUDACC__)
  #define DEVPLACE_HD __host__ __device__
  #define DEVPLACE_DEVICE __device__
  #define DEVPLACE_DEVICE_UNROLL _Pragma("unroll")
  #define DEVPLACE_NODISCARD
  #define DEVPLACE_HOST_PRAGMAS_BEGIN _Pragma("nv_diagnostic push") _Pragma("nv_diag_suppress 1675")
  #define DEVPLACE_HOST_PRAGMAS_END _Pragma("nv_diagnostic pop")
#else
  /// Marks functions that are called by kernels as well as by the host.
  #define DEVPLACE_HD
  /// Marks the bodies of kernels; the host calls them only in the tests' emulation of a GPU.
  #define DEVPLACE_DEVICE
  /// Unrolls the next loop of such a body, so that the arrays that it indexes are kept in registers.
  #define DEVPLACE_DEVICE_UNROLL
  /// Marks classes whose values, the results of operations, are to be used.
  #define DEVPLACE_NODISCARD [[nodiscard]]
  #define DEVPLACE_HOST_PRAGMAS_BEGIN
  #define DEVPLACE_HOST_PRAGMAS_END
#endif

#if defined(__CUDA_ARCH__)
  #define DEVPLACE_IF_HOST(...)
#else
  /// Code that nvcc's device pass must not see, such as throwing in a DEVPLACE_HD function.
  #define DEVPLACE_IF_HOST(...) __VA_ARGS__
#endif

/// After a function: its result refers to the object; after a parameter: to that argument. clang then warns about a
/// result that outlives it, such as a view of a local tensor that is returned.
#if defined(__clang__)
  #define DEVPLACE_LIFETIMEBOUND [[clang::lifetimebound]]
#else
  #define DEVPLACE_LIFETIMEBOUND
#endif

/// After the declaration of a function, not of a constructor: programs that call it are refused; by _IF those alone for
/// whose arguments clang knows the condition to be true. clang prints the sentence at the user's line; `= delete` would
/// make it list the other overloads. Other compilers print the declaration, whose template parameters name the fix.
#if defined(__clang__)
  #define DEVPLACE_REFUSED_IF(condition, sentence)                                        \
    _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wgcc-compat\"") \
        __attribute__((diagnose_if(condition, "devplace: " sentence, "error"))) _Pragma("clang diagnostic pop")
  // Not by _IF: clang prints three lines for each macro that another one expands to.
  #define DEVPLACE_REFUSED(sentence)                                                      \
    _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wgcc-compat\"") \
        __attribute__((diagnose_if(true, "devplace: " sentence, "error"))) _Pragma("clang diagnostic pop")
#elif defined(__cpp_deleted_function)
  #define DEVPLACE_REFUSED(sentence) = delete ("devplace: " sentence)
  #define DEVPLACE_REFUSED_IF(condition, sentence)
#else
  #define DEVPLACE_REFUSED(sentence) = delete
  #define DEVPLACE_REFUSED_IF(condition, sentence)
#endif

// Unrolls a loop over registers completely, which -O2 alone does not do.
#if defined(__clang__)
  #define DEVPLACE_UNROLL _Pragma("clang loop unroll(full)")
#else
  #define DEVPLACE_UNROLL _Pragma("GCC unroll 32")
#endif

// Keeps a loop around a vectorised one. Unrolled completely by g++, the latter's operations become scalar ones.
#if defined(__clang__)
  #define DEVPLACE_NO_UNROLL
#else
  #define DEVPLACE_NO_UNROLL _Pragma("GCC unroll 1")
#endif

// Whether element access and extent() of tensors and views check their arguments. It is a template argument of these
// functions, so that files with and without checks can be linked.
#if !defined(DEVPLACE_CHECK_BOUNDS)
  #if defined(NDEBUG)
    #define DEVPLACE_CHECK_BOUNDS 0
  #else
    /// 1: checked, as without NDEBUG; 0: not, as with it. May be defined for a file or a program.
    #define DEVPLACE_CHECK_BOUNDS 1
  #endif
#endif

// Keeps the compiler from combining the value of a floating-point expression with what is computed from it, which
// -ffast-math allows. (g++ 12 forgets its own __builtin_assoc_barrier in loops that it vectorises.)
#if (defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__)) && !defined(__CUDA_ARCH__)
  #define DEVPLACE_AS_WRITTEN(...) (::devplace::detail::opaque(__VA_ARGS__))
namespace devplace::detail {
template <class T>
inline T opaque(T x) {
  __asm__("" : "+m"(x));
  return x;
}
}  // namespace devplace::detail
#else
  #define DEVPLACE_AS_WRITTEN(...) (__VA_ARGS__)
#endif

// The component's implementation of functions that also have one without the component.
#if defined(DEVPLACE_WITH_CBLAS)
  #define DEVPLACE_CBLAS_ENGINE <devplace/backend/cpu/gemm_cblas.hpp>
  #define DEVPLACE_DETAIL_MATRIX_LIBRARY cblas
#else
  #define DEVPLACE_CBLAS_ENGINE <devplace/backend/none/kernels.hpp>
  #define DEVPLACE_DETAIL_MATRIX_LIBRARY built_in
#endif
#if defined(DEVPLACE_WITH_CUDNN) && defined(DEVPLACE_WITH_CUDA) && defined(__CUDACC__)
  #define DEVPLACE_CUDNN_ENGINE <devplace/backend/cuda/cudnn_convolution.hpp>
  #define DEVPLACE_CUDNN_ATTENTION <devplace/backend/cuda/cudnn_attention.cuh>
  #define DEVPLACE_DETAIL_CONVOLUTION_LIBRARY cudnn
#else
  #define DEVPLACE_CUDNN_ENGINE <devplace/backend/none/kernels.hpp>
  #define DEVPLACE_CUDNN_ATTENTION <devplace/backend/none/kernels.hpp>
  #define DEVPLACE_DETAIL_CONVOLUTION_LIBRARY built_in
#endif
#if defined(DEVPLACE_WITH_ZLIB)
  #define DEVPLACE_GZIP_READER <devplace/io/detail/gzip_zlib.hpp>
  #define DEVPLACE_DEFLATE_READER <devplace/io/detail/deflate_zlib.hpp>
#else
  #define DEVPLACE_GZIP_READER <devplace/io/detail/gzip_absent.hpp>
  #define DEVPLACE_DEFLATE_READER <devplace/io/detail/deflate_absent.hpp>
#endif

// Around a loop whose iterations do not access elements that other iterations write: allows vectorisation without
// run-time checks for aliasing.
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

// Around a function with such a loop over a body that is unknown here, such as a user's functor or std::log. clang
// warns if it cannot vectorise the loop, at the function into which it was inlined, which may be the user's. Therefore
// the function must not be inlined, and the warning is disabled in it.
#if defined(__clang__)
  #define DEVPLACE_ANY_LOOP_BODY_BEGIN \
    _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wpass-failed\"")
  #define DEVPLACE_ANY_LOOP_BODY_END _Pragma("clang diagnostic pop")
#else
  #define DEVPLACE_ANY_LOOP_BODY_BEGIN
  #define DEVPLACE_ANY_LOOP_BODY_END
#endif

// Attributes of a function that is compiled for AVX-512 with products and sums rounded as on other processors. AVX-512
// includes fused multiply-adds; g++ forms them in the function that code was inlined into, and only if this lets it.
// clang forms them where the code stands, which may be the user's, and therefore has no such function. Nor has a
// compilation whose own flags allow fused multiply-adds, so that these are used on every processor.
#if defined(__x86_64__) && !defined(__clang__) && !defined(__FMA__) && !defined(__AVX512F__)
  #define DEVPLACE_AVX512_WITHOUT_FMA \
    gnu::target("avx512f,avx512vl,avx512dq,avx512bw"), gnu::optimize("fp-contract=off")
#endif

#if defined(DEVPLACE_WITH_SIMULATED_CUDA)
  #define DEVPLACE_CUDA_BACKEND(name) <devplace/backend/simulated/kernels.hpp>
  #define DEVPLACE_CUDA_KERNELS(name) <devplace/backend/none/kernels.hpp>
  #define DEVPLACE_CUDA_MEMORY <devplace/backend/simulated/memory.hpp>
  #define DEVPLACE_CUDA_DEVICES <devplace/backend/simulated/device_query.hpp>
  #define DEVPLACE_CUDA_EVENTS <devplace/backend/simulated/events.hpp>
  #define DEVPLACE_CUDA_STREAMS <devplace/backend/simulated/streams.hpp>
  #define DEVPLACE_CUDA_IPC <devplace/backend/simulated/ipc.hpp>
#elif defined(DEVPLACE_WITH_CUDA) && defined(__CUDACC__)
  #define DEVPLACE_CUDA_BACKEND(name) <devplace/backend/cuda/name.cuh>
  #define DEVPLACE_CUDA_KERNELS(name) <devplace/backend/cuda/kernels/name.hpp>
  #define DEVPLACE_CUDA_MEMORY <devplace/backend/cuda/memory.hpp>
  #define DEVPLACE_CUDA_DEVICES <devplace/backend/cuda/device_query.hpp>
  #define DEVPLACE_CUDA_EVENTS <devplace/backend/cuda/events.hpp>
  #define DEVPLACE_CUDA_STREAMS <devplace/backend/cuda/streams.hpp>
  #define DEVPLACE_CUDA_IPC <devplace/backend/cuda/ipc.hpp>
#elif defined(DEVPLACE_WITH_CUDA)
  #define DEVPLACE_CUDA_BACKEND(name) <devplace/backend/none/kernels.hpp>
  #define DEVPLACE_CUDA_KERNELS(name) <devplace/backend/none/kernels.hpp>
  #define DEVPLACE_CUDA_MEMORY <devplace/backend/cuda/memory.hpp>
  #define DEVPLACE_CUDA_DEVICES <devplace/backend/cuda/device_query.hpp>
  #define DEVPLACE_CUDA_EVENTS <devplace/backend/cuda/events.hpp>
  #define DEVPLACE_CUDA_STREAMS <devplace/backend/cuda/streams.hpp>
  #define DEVPLACE_CUDA_IPC <devplace/backend/cuda/ipc.hpp>
#else
  /// The header that implements operation `name` on cuda places in this translation unit; an empty one if none does.
  #define DEVPLACE_CUDA_BACKEND(name) <devplace/backend/none/kernels.hpp>
  /// The header with special kernels for the functors that operation `name` passes to for_each; likewise.
  #define DEVPLACE_CUDA_KERNELS(name) <devplace/backend/none/kernels.hpp>
  /// The header that allocates and copies memory of cuda places in this translation unit; an empty one if none does.
  #define DEVPLACE_CUDA_MEMORY <devplace/backend/none/kernels.hpp>
  /// The header that counts and describes the devices of cuda places; an empty one if there can be none.
  #define DEVPLACE_CUDA_DEVICES <devplace/backend/none/kernels.hpp>
  /// The header with the events of cuda places in this translation unit; an empty one if there are none.
  #define DEVPLACE_CUDA_EVENTS <devplace/backend/none/kernels.hpp>
  /// The header with the streams of cuda places in this translation unit; an empty one if there are none.
  #define DEVPLACE_CUDA_STREAMS <devplace/backend/none/kernels.hpp>
  /// The header by which other processes open memory of cuda places; an empty one if there is none.
  #define DEVPLACE_CUDA_IPC <devplace/backend/none/kernels.hpp>
#endif

// Real and simulated CUDA in one program would violate the ODR. Object files of both kinds define this absolute symbol,
// with different values, and the linker rejects duplicate definitions unless the values agree. With link-time
// optimisation one assembler run processes all files and would silently keep the last value, hence the check.
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

// In debug builds only, and not under sanitizers, which check memory themselves and find more.
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
  #define DEVPLACE_DETAIL_CHECKED false
  #define DEVPLACE_CONFIGURATION DEVPLACE_DETAIL_WITH_LIBRARIES(simulated_cuda)
#elif defined(DEVPLACE_WITH_CUDA) && defined(__CUDACC__) && defined(DEVPLACE_WITH_CUDNN)
  #define DEVPLACE_DETAIL_CUDA_SUPPORT full
  #define DEVPLACE_DETAIL_CHECKED false
  #define DEVPLACE_CONFIGURATION DEVPLACE_DETAIL_WITH_LIBRARIES(full_cuda_and_cudnn)
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

/// What a translation unit can do with cuda places.
enum class cuda_support : unsigned char {
  none,       ///< only name them
  simulated,  ///< everything, on host memory
  host_only,  ///< memory and copies: component cuda is linked, but the file is compiled as C++
  full        ///< everything: component cuda, compiled as CUDA
};

/// The library that multiplies matrices on the CPU.
enum class matrix_library : unsigned char { built_in, cblas };

/// The library that convolves on GPUs; built_in unfolds images and multiplies by cuBLASLt.
enum class convolution_library : unsigned char { built_in, cudnn };

inline namespace DEVPLACE_CONFIGURATION {

/// What this translation unit was compiled with.
struct configuration {
  static constexpr cuda_support cuda = cuda_support::DEVPLACE_DETAIL_CUDA_SUPPORT;
  static constexpr matrix_library matrix = matrix_library::DEVPLACE_DETAIL_MATRIX_LIBRARY;
  static constexpr convolution_library convolution = convolution_library::DEVPLACE_DETAIL_CONVOLUTION_LIBRARY;
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
#undef DEVPLACE_DETAIL_CONVOLUTION_LIBRARY

// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Part of config.hpp: pragmas for loops, and barriers in floating-point expressions.

/// Unrolls a loop over registers completely; -O2 alone does not.
#if defined(__clang__)
  #define DEVPLACE_UNROLL _Pragma("clang loop unroll(full)")
#else
  #define DEVPLACE_UNROLL _Pragma("GCC unroll 32")
#endif

/// Keeps g++ from unrolling a loop around a vectorised loop, whose operations would become scalar.
#if defined(__clang__)
  #define DEVPLACE_NO_UNROLL
#else
  #define DEVPLACE_NO_UNROLL _Pragma("GCC unroll 1")
#endif

/// Keeps the compiler from reassociating a floating-point expression with operations on its value, as -ffast-math
/// allows. (g++ 12 drops its own __builtin_assoc_barrier in loops that it vectorises.)
#if defined(__clang__) && defined(__x86_64__) && !defined(__CUDACC__)
  // clang has no macro for -fassociative-math and -funsafe-math-optimizations; without such options a fence does
  // nothing.
  #define DEVPLACE_AS_WRITTEN(...) (__arithmetic_fence(__VA_ARGS__))
  #define DEVPLACE_KEEP_AS_WRITTEN(variable) ((variable) = __arithmetic_fence(variable))
#elif (defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__)) && !defined(__CUDA_ARCH__)
  #define DEVPLACE_AS_WRITTEN(...) (::devplace::detail::opaque(__VA_ARGS__))
  /// Keeps the compiler from reassociating an expression with operations on the value of a variable, which may be a
  /// vector.
  #define DEVPLACE_KEEP_AS_WRITTEN(variable) __asm__("" : "+m"(variable))
namespace devplace::detail {
template <class T> inline T opaque(T x) {
  DEVPLACE_KEEP_AS_WRITTEN(x);
  return x;
}
}  // namespace devplace::detail
#else
  #define DEVPLACE_AS_WRITTEN(...) (__VA_ARGS__)
  #define DEVPLACE_KEEP_AS_WRITTEN(variable) static_cast<void>(0)
#endif

/// Surrounds a loop whose iterations access no elements that other iterations write: vectorises it without run-time
/// checks for aliasing.
#if defined(__clang__)
  #define DEVPLACE_INDEPENDENT_ITERATIONS_BEGIN                                            \
    _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wpass-failed\"") \
        _Pragma("clang loop vectorize(assume_safety)")
  #define DEVPLACE_INDEPENDENT_ITERATIONS_END _Pragma("clang diagnostic pop")
#else
  #define DEVPLACE_INDEPENDENT_ITERATIONS_BEGIN _Pragma("GCC ivdep")
  #define DEVPLACE_INDEPENDENT_ITERATIONS_END
#endif

/// Surrounds a function that contains a loop of independent iterations whose body is unknown here: for example, the
/// body calls a user's functor or std::log. If clang cannot vectorise the loop, it warns at the function into which the
/// loop was inlined, possibly the user's. Therefore the function must be noinline, and the macros disable the warning
/// in it.
#if defined(__clang__)
  #define DEVPLACE_ANY_LOOP_BODY_BEGIN \
    _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wpass-failed\"")
  #define DEVPLACE_ANY_LOOP_BODY_END _Pragma("clang diagnostic pop")
#else
  #define DEVPLACE_ANY_LOOP_BODY_BEGIN
  #define DEVPLACE_ANY_LOOP_BODY_END
#endif

/// Attributes that compile a function for AVX-512 without fused multiply-adds, so that results are rounded as on other
/// processors. g++ fuses only where the function into which code is inlined allows it. With clang the inlined code
/// decides, so the macro is undefined. It is also undefined if the compilation itself allows fused multiply-adds,
/// because every processor then uses them.
#if defined(__x86_64__) && !defined(__clang__) && !defined(__FMA__) && !defined(__AVX512F__)
  #define DEVPLACE_AVX512_WITHOUT_FMA \
    gnu::target("avx512f,avx512vl,avx512dq,avx512bw"), gnu::optimize("fp-contract=off")
#endif

/// The attribute that compiles a function for size, such as one that makes a text; clang has none.
#if defined(__clang__)
  #define DEVPLACE_FOR_SIZE
  #define DEVPLACE_FOR_ANY_LENGTH
#else
  #define DEVPLACE_FOR_SIZE gnu::optimize("Os")
   /// The attribute with which g++ vectorises loops of any length at -O2, as clang does.
  #define DEVPLACE_FOR_ANY_LENGTH gnu::optimize("vect-cost-model=dynamic")
#endif

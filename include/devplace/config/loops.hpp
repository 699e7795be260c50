// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Part of config.hpp: pragmas for loops, and barriers in floating-point expressions.

#if defined(__clang__)
  #define DEVPLACE_UNROLL _Pragma("clang loop unroll(full)")
  #define DEVPLACE_NO_UNROLL
  #define DEVPLACE_ANY_LOOP_BODY_BEGIN \
    _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wpass-failed\"")
  #define DEVPLACE_ANY_LOOP_BODY_END _Pragma("clang diagnostic pop")
  #define DEVPLACE_INDEPENDENT_ITERATIONS_BEGIN \
    DEVPLACE_ANY_LOOP_BODY_BEGIN _Pragma("clang loop vectorize(assume_safety) unroll(disable)")
  #define DEVPLACE_INDEPENDENT_ITERATIONS_END DEVPLACE_ANY_LOOP_BODY_END
  #define DEVPLACE_FOR_SIZE
  #define DEVPLACE_FOR_ANY_LENGTH
#else
  /// Unrolls a loop over registers completely; -O2 alone does not.
  #define DEVPLACE_UNROLL _Pragma("GCC unroll 32")
  /// Keeps g++ from unrolling a loop around a vectorised loop, whose operations would become scalar.
  #define DEVPLACE_NO_UNROLL _Pragma("GCC unroll 1")
  /// Surrounds a function that contains a loop of independent iterations whose body is unknown here: for example, the
  /// body calls a user's functor or std::log. If clang cannot vectorise the loop, it warns at the function into which
  /// the loop was inlined, possibly the user's. Therefore the function must be noinline, and the macros disable the
  /// warning in it.
  #define DEVPLACE_ANY_LOOP_BODY_BEGIN
  #define DEVPLACE_ANY_LOOP_BODY_END
  /// Surrounds a loop whose iterations access no elements that other iterations write: vectorises it without run-time
  /// checks for aliasing. At -O3, clang would otherwise unroll a loop of constant length, and then not vectorise it.
  #define DEVPLACE_INDEPENDENT_ITERATIONS_BEGIN _Pragma("GCC ivdep")
  #define DEVPLACE_INDEPENDENT_ITERATIONS_END
  /// An attribute that compiles a function for size, such as one that makes a text.
  #define DEVPLACE_FOR_SIZE gnu::optimize("Os")
  /// An attribute that vectorises loops whose length is no constant at -O2, too, as clang does by default.
  #define DEVPLACE_FOR_ANY_LENGTH gnu::optimize("vect-cost-model=dynamic")
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

/// Aligns a local array for any vector, as g++ does without being told where it vectorises.
#if defined(__clang__) && !defined(__CUDACC__)
  #define DEVPLACE_ALIGNED_FOR_VECTORS alignas(64)
#else
  #define DEVPLACE_ALIGNED_FOR_VECTORS
#endif

/// Attributes that compile a function for AVX-512 without fused multiply-adds, so that results are rounded as on other
/// processors. They are undefined if the compilation itself allows fused multiply-adds, because every processor then
/// uses them. g++ fuses only where the function into which code is inlined allows it. With clang the inlined code
/// decides: only code between DEVPLACE_UNFUSED_BEGIN and DEVPLACE_UNFUSED_END is not fused.
#if defined(__x86_64__) && !defined(__FMA__) && !defined(__AVX512F__)
  #if !defined(__clang__)
    #define DEVPLACE_AVX512_WITHOUT_FMA \
      gnu::target("avx512f,avx512vl,avx512dq,avx512bw"), gnu::optimize("fp-contract=off")
  #elif !defined(__CUDACC__) && !defined(__FAST_MATH__)
    #define DEVPLACE_AVX512_WITHOUT_FMA gnu::target("avx512f,avx512vl,avx512dq,avx512bw")
    #define DEVPLACE_UNFUSED_BEGIN _Pragma("float_control(push)") _Pragma("clang fp contract(off)")
    #define DEVPLACE_UNFUSED_END _Pragma("float_control(pop)")
  #endif
#endif
namespace devplace::detail {
#if defined(DEVPLACE_UNFUSED_BEGIN)
/// Whether clang compiles loops for AVX-512. Functors of users do not stand between the macros.
inline constexpr bool avx512_by_clang = true;
DEVPLACE_UNFUSED_BEGIN
/// Returns false if products and sums are fused in spite of the pragma, with -ffp-contract=fast. clang has no macro for
/// this option.
[[gnu::noinline, DEVPLACE_AVX512_WITHOUT_FMA]] inline bool unfused_code_is_unfused() {
  float x = 1 + 0x1p-12F;
  __asm__("" : "+x"(x));
  float error_of_square = x * x - (1 + 0x1p-11F);
  __asm__("" : "+x"(error_of_square));
  return error_of_square == 0;
}
DEVPLACE_UNFUSED_END
#else
  #define DEVPLACE_UNFUSED_BEGIN
  #define DEVPLACE_UNFUSED_END
inline constexpr bool avx512_by_clang = false;
consteval bool unfused_code_is_unfused() { return true; }
#endif
}  // namespace devplace::detail

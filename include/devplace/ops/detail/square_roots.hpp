// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstddef>

#if defined(__AVX__)
  #define DEVPLACE_DETAIL_ROOT "vsqrt"
#elif defined(__x86_64__)
  #define DEVPLACE_DETAIL_ROOT "sqrt"
#endif

namespace devplace::detail {

// Replaces n numbers by their correctly rounded square roots. Uses assembly, because neither compiler vectorises
// std::sqrt, which may set errno. Not inlined into code for other instruction sets, because 16-byte vectors need none.
#if defined(DEVPLACE_DETAIL_ROOT)
  #define DEVPLACE_DETAIL_SQUARE_ROOTS(T, suffix)                                        \
    [[gnu::noinline]] inline void take_square_roots(T* x, std::size_t n) {               \
      typedef T vector __attribute__((vector_size(16), aligned(alignof(T)), may_alias)); \
      typedef T in_register __attribute__((vector_size(16)));                            \
      constexpr std::size_t lanes = 16 / sizeof(T);                                      \
      for (; n >= lanes; n -= lanes, x += lanes) {                                       \
        in_register part = *reinterpret_cast<const vector*>(x);                          \
        __asm__(DEVPLACE_DETAIL_ROOT suffix " %1, %0" : "=x"(part) : "x"(part));         \
        *reinterpret_cast<vector*>(x) = part;                                            \
      }                                                                                  \
      for (; n != 0; --n, ++x) *x = std::sqrt(*x);                                       \
    }
#else
  #define DEVPLACE_DETAIL_SQUARE_ROOTS(T, suffix)                          \
    [[gnu::noinline]] inline void take_square_roots(T* x, std::size_t n) { \
      for (std::size_t i = 0; i < n; ++i) x[i] = std::sqrt(x[i]);          \
    }
#endif
DEVPLACE_DETAIL_SQUARE_ROOTS(float, "ps")
DEVPLACE_DETAIL_SQUARE_ROOTS(double, "pd")
#undef DEVPLACE_DETAIL_SQUARE_ROOTS
#undef DEVPLACE_DETAIL_ROOT

}  // namespace devplace::detail

// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstddef>

#if defined(__AVX__)
  #define DEVPLACE_DETAIL_ROOT "vsqrt"
#else
  #define DEVPLACE_DETAIL_ROOT "sqrt"
#endif

namespace devplace::detail {

/// Replaces n numbers by their correctly rounded square roots. Uses assembly, because neither compiler vectorises
/// std::sqrt, which may set errno. Not inlined into code for other instruction sets, because 16-byte vectors need none.
template <class T> [[gnu::noinline]] void take_square_roots(T* x, std::size_t n) {
#if defined(__x86_64__)
  typedef T vector __attribute__((vector_size(16)));
  typedef T in_memory __attribute__((vector_size(16), aligned(alignof(T)), may_alias));
  constexpr std::size_t lanes = 16 / sizeof(T);
  for (; n >= lanes; n -= lanes, x += lanes) {
    vector part = *reinterpret_cast<const in_memory*>(x);
    if constexpr (lanes == 4)
      __asm__(DEVPLACE_DETAIL_ROOT "ps %1, %0" : "=x"(part) : "x"(part));
    else
      __asm__(DEVPLACE_DETAIL_ROOT "pd %1, %0" : "=x"(part) : "x"(part));
    *reinterpret_cast<in_memory*>(x) = part;
  }
#endif
  for (; n != 0; --n, ++x) *x = std::sqrt(*x);
}
#undef DEVPLACE_DETAIL_ROOT

}  // namespace devplace::detail

// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/config.hpp>

namespace devplace::detail {

/// A run of pairs of elements: a vector of the first ones and one of the second ones. g++ would compute expressions
/// with selections one element at a time, with branches.
template <class T, std::size_t Lanes> struct pairs {
  static_assert(Lanes == 4 || Lanes == 8);
  typedef T vector __attribute__((vector_size(Lanes * sizeof(T))));
  typedef T in_memory __attribute__((vector_size(Lanes * sizeof(T)), aligned(alignof(T)), may_alias));
  vector first, second;

  pairs() = default;
  [[gnu::always_inline]] explicit pairs(const T* from) {
    const vector low = *reinterpret_cast<const in_memory*>(from);
    const vector high = *reinterpret_cast<const in_memory*>(from + Lanes);
    if constexpr (Lanes == 4) {
      first = __builtin_shufflevector(low, high, 0, 2, 4, 6);
      second = __builtin_shufflevector(low, high, 1, 3, 5, 7);
    } else {
      first = __builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14);
      second = __builtin_shufflevector(low, high, 1, 3, 5, 7, 9, 11, 13, 15);
    }
  }
  [[gnu::always_inline]] void store(T* to) const {
    auto* const low = reinterpret_cast<in_memory*>(to);
    auto* const high = reinterpret_cast<in_memory*>(to + Lanes);
    if constexpr (Lanes == 4) {
      *low = __builtin_shufflevector(first, second, 0, 4, 1, 5);
      *high = __builtin_shufflevector(first, second, 2, 6, 3, 7);
    } else {
      *low = __builtin_shufflevector(first, second, 0, 8, 1, 9, 2, 10, 3, 11);
      *high = __builtin_shufflevector(first, second, 4, 12, 5, 13, 6, 14, 7, 15);
    }
  }
};

}  // namespace devplace::detail

// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

namespace devplace::detail {

/// N elements that a GPU's thread reads or writes by one instruction; their address is a multiple of their size, which
/// is a power of two of at most 16 bytes.
template <class T, unsigned N>
struct alignas(N * sizeof(T)) packed {
  static_assert(N * sizeof(T) <= 16 && (N & (N - 1)) == 0, "an access has at most 16 bytes, and 2^n elements");
  T value[N];
};

/// As many elements as one access of a thread can take.
template <class T>
inline constexpr unsigned widest_access = 16 / sizeof(T);

}  // namespace devplace::detail

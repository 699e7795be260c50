// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

namespace devplace::detail {

/// N elements that a GPU thread reads or writes with one instruction: aligned to their size, a power of two of at most
/// 16 bytes.
template <class T, unsigned N>
struct alignas(N * sizeof(T)) pack {
  static_assert(N * sizeof(T) <= 16 && (N & (N - 1)) == 0, "an access has at most 16 bytes, and 2^n elements");
  T value[N];
};

/// Number of elements in a 16-byte access, the widest one of a thread.
template <class T>
inline constexpr unsigned widest_access = 16 / sizeof(T);

}  // namespace devplace::detail

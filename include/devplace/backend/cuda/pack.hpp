// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace devplace::detail {

/// N adjacent elements that a GPU thread reads or writes together: up to 16 bytes with one instruction, or 32 bytes
/// with two (for the larger of two element types). The address is a multiple of one access's size.
template <class T, unsigned N> struct alignas(N * sizeof(T) < 16 ? N * sizeof(T) : 16) pack {
  static_assert(N * sizeof(T) <= 32 && (N & (N - 1)) == 0, "a pack is one access or two, and has 2^n elements");
  T value[N];
};

/// Number of elements in a 16-byte access, a thread's widest.
template <class T> inline constexpr unsigned widest_access = 16 / sizeof(T);

}  // namespace devplace::detail

// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

namespace devplace::detail {

/// Whether the ranges of n bytes at a and m bytes at b overlap.
inline bool share_memory(const void* a, std::size_t n, const void* b, std::size_t m) {
  const auto x = reinterpret_cast<std::uintptr_t>(a), y = reinterpret_cast<std::uintptr_t>(b);
  return n != 0 && m != 0 && x < y + m && y < x + n;
}

}  // namespace devplace::detail

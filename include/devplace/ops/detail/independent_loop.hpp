// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/config.hpp>

DEVPLACE_HOST_PRAGMAS_BEGIN
namespace devplace::detail {

/// Calls f(i) for every i in [begin, end); no call may access elements that another call writes. The inner loop has a
/// constant length, which lets g++ vectorise it at -O2.
DEVPLACE_HD_CALLS_ANY
[[gnu::always_inline]] DEVPLACE_HD inline void independent_loop(std::size_t begin, std::size_t end, const auto& f) {
  constexpr std::size_t tile = 32;
  std::size_t i = begin;
  for (; i + tile <= end; i += tile) {
    DEVPLACE_INDEPENDENT_ITERATIONS_BEGIN
    for (std::size_t k = 0; k < tile; ++k) f(i + k);
    DEVPLACE_INDEPENDENT_ITERATIONS_END
  }
  for (; i < end; ++i) f(i);
}

}  // namespace devplace::detail
DEVPLACE_HOST_PRAGMAS_END

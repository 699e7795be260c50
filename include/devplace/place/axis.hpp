// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

namespace devplace {

/// An axis of an array, counted from 0, as a type: `sum(x, axis<1>{})`, `sharded<axis<0>, 0, 1>`.
template <std::size_t N> struct axis {
  /// The axis's number.
  static constexpr std::size_t index = N;
};

}  // namespace devplace

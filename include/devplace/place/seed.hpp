// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

namespace devplace {

/// Where random numbers start: the same seed gives the same numbers, whatever the place and the number of threads.
struct seed {
  std::uint64_t value = 0;  ///< any number

  /// Whether they give the same numbers.
  friend constexpr bool operator==(seed, seed) = default;
};

}  // namespace devplace

// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

namespace devplace {

/// Seed of random numbers: the same seed gives the same numbers, regardless of place and number of threads.
struct seed {
  std::uint64_t value = 0;  ///< any value

  /// Whether the seeds are equal.
  friend constexpr bool operator==(seed, seed) = default;
};

}  // namespace devplace

// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/config.hpp>
#include <devplace/tensor/detail/float_bits.hpp>

namespace devplace::runtime {

/// What a place knows of the norms of gradients since they were set to zero. All of one type, to be copied as an array.
struct norm_statistics {
  static constexpr int numbers = 5;

  double last;
  double sum, largest;    ///< of those that are finite
  double finite, others;  ///< how many there were

  DEVPLACE_HD void add(double norm) {
    last = norm;
    if (!devplace::detail::is_finite(norm)) {
      others += 1;
      return;
    }
    sum += norm;
    if (norm > largest) largest = norm;
    finite += 1;
  }
};
static_assert(sizeof(norm_statistics) == norm_statistics::numbers * sizeof(double));

}  // namespace devplace::runtime

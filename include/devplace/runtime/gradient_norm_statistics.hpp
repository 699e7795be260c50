// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/config.hpp>
#include <devplace/tensor/detail/float_bits.hpp>

namespace devplace::runtime {

/// Statistics of the norms of gradients on a place since the last reset. All members have the same type, so that the
/// object can be copied as an array.
struct gradient_norm_statistics {
  static constexpr int numbers = 5;

  double last;
  double sum, largest;    ///< sum and maximum of the finite norms
  double finite, others;  ///< numbers of finite norms and of other norms

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
static_assert(sizeof(gradient_norm_statistics) == gradient_norm_statistics::numbers * sizeof(double));

}  // namespace devplace::runtime

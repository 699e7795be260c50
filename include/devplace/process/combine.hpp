// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>

#include <devplace/base/error.hpp>
#include <devplace/config.hpp>
#include <devplace/place/placement.hpp>

namespace devplace::parallel::detail {

/// Maximum number of places of a collective, equal to counted_ordinals in place/device_map.hpp.
inline constexpr std::size_t max_ranks = 64;

/// One step of a reduction. Means are summed until finish() divides.
template <class T, reduction Op> struct combine {
  DEVPLACE_HD static T both(T a, T b) {
    // NaN propagates, as in maximum and minimum.
    if constexpr (Op == reduction::max)
      return a != a || a > b ? a : b;
    else if constexpr (Op == reduction::min)
      return a != a || a < b ? a : b;
    else
      return static_cast<T>(a + b);
  }
  DEVPLACE_HD static T finish(T total, int ranks) {
    if constexpr (Op == reduction::mean)
      return static_cast<T>(total / static_cast<T>(ranks));
    else
      return static_cast<void>(ranks), total;
  }
};

/// Throws if elements of type T cannot be reduced by this operation. Call it before work is enqueued: the program may
/// free the buffers as soon as a collective has thrown.
template <class T> void check_reduction(reduction op) {
  if (op == reduction::mean && !std::is_floating_point_v<T>)
    throw argument_error("collective: a mean over places is defined for float and double elements; use the sum.");
}

/// Calls `f.template operator()<Op>()` for a run-time operation that check_reduction() accepts.
template <class T, class F> void with_reduction(reduction op, F&& f) {
  switch (op) {
    case reduction::sum:
      return f.template operator()<reduction::sum>();
    case reduction::mean:
      if constexpr (std::is_floating_point_v<T>) f.template operator()<reduction::mean>();
      return;
    case reduction::max:
      return f.template operator()<reduction::max>();
    case reduction::min:
      return f.template operator()<reduction::min>();
  }
}

}  // namespace devplace::parallel::detail

// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <random>
#include <type_traits>
#include <vector>

#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/placed.hpp>

#include "support/random_values.hpp"

namespace support {

/// A partial tensor and, beside it, the value that it stands for: computed by a loop over the places in their order.
template <class T, class Extents, class Where>
struct summands_and_value {
  devplace::tensor<T, Extents, Where> summands;
  std::vector<T> value;
};

template <devplace::reduction Op, class T>
T combined(T a, T b) {
  if (Op == devplace::reduction::max) return b > a ? b : a;
  if (Op == devplace::reduction::min) return b < a ? b : a;
  return static_cast<T>(a + b);
}

/// Integers from -8 to 8, or any numbers from -1 to 1.
template <class Where, devplace::reduction Op, class T, class Extents>
auto random_summands(const Extents& extents, bool whole_numbers) {
  constexpr std::size_t n = devplace::place_count<Where>;
  summands_and_value<T, Extents, Where> result{devplace::tensor<T, Extents, Where>(extents), {}};
  for (std::size_t k = 0; k < n; ++k) {
    const double most = whole_numbers ? 8 : 1;
    auto x = devplace::test::random_values<T>(extents, static_cast<unsigned>(17 * k + n), -most, most);
    if constexpr (std::is_floating_point_v<T>)
      for (std::size_t i = 0; whole_numbers && i < x.size(); ++i)
        x.data()[i] = static_cast<T>(static_cast<int>(x.data()[i]));
    devplace::copy(result.summands.local(k), x);
    if (k == 0) result.value.assign(x.data(), x.data() + x.size());
    for (std::size_t i = 0; k != 0 && i < x.size(); ++i)
      result.value[i] = combined<Op>(result.value[i], x.data()[i]);
  }
  for (T& total : result.value)
    if (Op == devplace::reduction::mean) total = static_cast<T>(total / static_cast<T>(n));
  return result;
}

}  // namespace support

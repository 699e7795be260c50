// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/parallel/detail/summands.hpp>
#include <devplace/tensor/distributed.hpp>

#include "support/host_values.hpp"
#include "support/random_values.hpp"

namespace support {

/// Summands and their combined value, computed by a loop in order.
template <class T> struct values_of_summands {
  std::vector<std::vector<T>> summands;
  std::vector<T> value;
};

template <class T> T combined(devplace::reduction op, T a, T b) {
  if (op == devplace::reduction::max) return b > a ? b : a;
  if (op == devplace::reduction::min) return b < a ? b : a;
  return static_cast<T>(a + b);
}

/// `n` summands of `size` integers from -8 to 8, or of real numbers from -1 to 1.
template <class T>
values_of_summands<T> random_values_of_summands(devplace::reduction op, std::size_t n, std::size_t size,
                                                bool whole_numbers) {
  values_of_summands<T> result;
  const double most = whole_numbers ? 8 : 1;
  for (std::size_t k = 0; k < n; ++k) {
    const auto x =
        devplace::test::random_values<T>(devplace::dextents<1>(size), static_cast<unsigned>(17 * k + n), -most, most);
    std::vector<T> values(x.data(), x.data() + size);
    if (whole_numbers)
      for (T& number : values) number = static_cast<T>(static_cast<int>(number));
    if (k == 0) result.value = values;
    for (std::size_t i = 0; k != 0 && i < size; ++i) result.value[i] = combined(op, result.value[i], values[i]);
    result.summands.push_back(std::move(values));
  }
  for (T& total : result.value)
    if (op == devplace::reduction::mean) total = static_cast<T>(total / static_cast<T>(n));
  return result;
}

/// A partial tensor and its value.
template <class T, class Extents, class Where> struct summands_and_value {
  devplace::tensor<T, Extents, Where> summands;
  std::vector<T> value;
};

/// A partial tensor of integers or real numbers, and its value.
template <class Where, class T, class Extents>
summands_and_value<T, Extents, Where> random_summands(const Extents& extents, bool whole_numbers) {
  auto values = random_values_of_summands<T>(devplace::detail::kind_of<Where>::op, devplace::local_place_count<Where>,
                                             extents.size(), whole_numbers);
  devplace::tensor<T, Extents, Where> summands(extents);
  for (std::size_t k = 0; k < values.summands.size(); ++k) set_values(summands.only_on(k), values.summands[k]);
  return {std::move(summands), std::move(values.value)};
}

}  // namespace support

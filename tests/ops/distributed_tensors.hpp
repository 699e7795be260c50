// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>

#include <devplace/place/algebra.hpp>
#include <devplace/tensor/distributed.hpp>

#include "support/host_values.hpp"

namespace devplace::test {

using support::set_values;
using support::values_of;

/// Returns a small nonzero integer of either sign, so that float arithmetic on such numbers is exact.
inline float small_number(std::size_t i, std::size_t key) {
  const auto value = static_cast<float>((i * 7 + key * 5) % 11) - 5;
  return value == 0 ? 6 : value;
}

/// Makes a tensor with the elements `values`, split or copied as Where says.
template <placement Where, class Extents, class T>
auto distributed_from(const Extents& extents, const std::vector<T>& values) {
  tensor<T, Extents, Where> x(extents);
  for (std::size_t k = 0; k != x.places; ++k) {
    const std::size_t begin = x.first_row(k) * (Extents::rank == 0 ? 1 : extents.stride(0));
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(begin);
    set_values(x.only_on(k), std::vector<T>(first, first + static_cast<std::ptrdiff_t>(x.only_on(k).size())));
  }
  return x;
}

/// Returns small numbers, one for each element of the extents.
template <class Extents> std::vector<float> small_numbers(const Extents& extents, std::size_t key) {
  std::vector<float> values(extents.size());
  for (std::size_t i = 0; i != values.size(); ++i) values[i] = small_number(i, key);
  return values;
}

/// Makes a tensor of small numbers; the summands of a partial tensor differ.
template <placement Where, class Extents> auto distributed_numbers(const Extents& extents, std::size_t key) {
  auto x = distributed_from<Where>(extents, small_numbers(extents, key));
  if constexpr (devplace::detail::kind_of<Where>::is_summands)
    for (std::size_t k = 0; k != x.places; ++k) set_values(x.only_on(k), small_numbers(extents, key + 3 * k));
  return x;
}

/// Returns the value of a distributed tensor: its parts in order, its first copy, or the summands combined by
/// `combine(total, summand)`. Checks that copies are equal.
template <class Tensor, class Combine> auto value_of(const Tensor& x, Combine combine) {
  using kind = devplace::detail::kind_of<typename Tensor::placement_type>;
  auto values = values_of(x.only_on(0));
  for (std::size_t k = 1; k != x.places; ++k) {
    const auto part = values_of(x.only_on(k));
    if constexpr (kind::is_split)
      values.insert(values.end(), part.begin(), part.end());
    else if constexpr (kind::is_summands)
      for (std::size_t i = 0; i != values.size(); ++i) values[i] = combine(values[i], part[i]);
    else if (part != values)
      values.clear();
  }
  return values;
}
template <class Tensor> auto value_of(const Tensor& x) {
  return value_of(x, [](auto a, auto b) { return static_cast<decltype(a)>(a + b); });
}

/// Returns `f(i)` for each i below `count`.
template <class F> auto values_by_index(std::size_t count, F f) {
  std::vector<std::decay_t<decltype(f(std::size_t{}))>> values;
  for (std::size_t i = 0; i != count; ++i) values.push_back(f(i));
  return values;
}

}  // namespace devplace::test

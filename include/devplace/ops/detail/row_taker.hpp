// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include <devplace/config.hpp>
#include <devplace/ops/detail/limits.hpp>
#include <devplace/tensor/dtype.hpp>

namespace devplace {

namespace op {

/// `run(ordinal, row_taker)`: copies the rows that an array of indices names.
struct take_rows {};

}  // namespace op

namespace detail {

/// Row `indices[i]` of `rows` rows goes to row i of `count`; each has `columns` elements.
template <class T, class Index>
struct row_taker {
  const T* from;
  const Index* indices;
  T* to;
  std::size_t rows;
  std::size_t count;
  std::size_t columns;

  /// Whether the row that goes to row i exists. Negative indices become large ones.
  DEVPLACE_HD bool exists(std::size_t i) const { return source(i) < rows; }
  DEVPLACE_HD std::size_t source(std::size_t i) const {
    return static_cast<std::size_t>(static_cast<std::int64_t>(indices[i]));
  }
};

/// What stands where a device finds no such row.
template <class T>
DEVPLACE_HD constexpr T no_element() {
  if constexpr (floating_element<T>)
    return not_a_number<T>;
  else
    return lowest_number<T>;
}

}  // namespace detail
}  // namespace devplace

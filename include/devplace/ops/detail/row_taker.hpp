// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <devplace/config.hpp>
#include <devplace/tensor/dtype.hpp>

namespace devplace::op {

/// `run(ordinal, row_taker)`: copies the rows whose indices an array contains.
struct take_rows {};

}  // namespace devplace::op

namespace devplace::detail {

/// The value that a device writes for a source row that does not exist.
template <class T> DEVPLACE_HD constexpr T no_element() {
  if constexpr (!std::is_integral_v<T>)
    return not_a_number<T>;
  else
    return lowest_number<T>;
}

/// Copies row `indices[i]` to row i for every i below `count`. The source has `rows` rows of `columns` elements. Only
/// `height` rows from `first` on are there and are copied; a row that is not one of `rows` counts as any row.
template <class T, class Index> struct row_taker {
  const T* from;
  const Index* indices;
  T* to;
  std::size_t rows;
  std::size_t count;
  std::size_t columns;
  std::size_t first = 0, height = rows;

  /// Whether the source of row i exists. Negative indices become large unsigned numbers.
  DEVPLACE_HD bool exists(std::size_t i) const { return source(i) < rows; }
  DEVPLACE_HD std::size_t source(std::size_t i) const {
    return static_cast<std::size_t>(static_cast<std::int64_t>(indices[i]));
  }
  /// Whether the source of row i is a row that lies elsewhere.
  DEVPLACE_HD bool skips(std::size_t i) const { return exists(i) && source(i) - first >= height; }
  /// Writes element i of the result, on a device.
  DEVPLACE_HD void operator()(std::size_t i) const {
    const std::size_t row = i / columns;
    if (skips(row)) return;
    to[i] = exists(row) ? from[source(row) * columns + i % columns] : no_element<T>();
  }
};

}  // namespace devplace::detail

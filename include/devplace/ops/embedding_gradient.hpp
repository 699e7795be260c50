// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include <devplace/config.hpp>
#include <devplace/place/backend.hpp>

// The gradient of an embedding's table, on contiguous arrays whose extents match by construction.

namespace devplace::op {

/// `run(ordinal, embedding_gradient_arguments)`.
struct embedding_gradient {};

}  // namespace devplace::op

namespace devplace::detail {

/// Row r of gradient [rows, columns] becomes the sum of the rows i of dy [count, columns] with indices[i] == first + r,
/// in order of i. If `accumulate`, the old row is added. Ignores indices equal to `without`, and indices of nonexistent
/// rows.
template <class T, class Gradient, class Index> struct embedding_gradient_arguments {
  const Index* indices;
  const T* dy;
  Gradient* gradient;
  std::size_t count, rows, columns;
  std::size_t without;  // an index without gradient; no row's if there is none
  bool accumulate;
  std::size_t first = 0;

  /// The row of index i; `rows` or more if the index is ignored.
  DEVPLACE_HD std::size_t row_of(std::size_t i) const {
    const auto row = static_cast<std::size_t>(static_cast<std::int64_t>(indices[i]));
    return row == without ? rows : row - first;  // rows before the first one become large numbers
  }
};

}  // namespace devplace::detail

#include <devplace/backend/cpu/embedding_gradient.hpp>
#include DEVPLACE_BACKENDS(embedding_gradient)

// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include <devplace/ops/elementwise.hpp>
#include <devplace/tensor/distributed.hpp>
#include <devplace/tensor/tensor.hpp>

namespace devplace::test {

/// Makes small integers without a pattern that a network would learn by accident: (3 i + 5 j + i j) mod 7 - 3.
template <class T, std::size_t Columns> tensor<T, extents<dyn, Columns>, on<cpu>> integer_samples(std::size_t rows) {
  tensor<T, extents<dyn, Columns>, on<cpu>> x(extents<dyn, Columns>{rows});
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < Columns; ++j) x(i, j) = static_cast<T>((3 * i + 5 * j + i * j) % 7) - T{3};
  return x;
}

/// Makes labels i * i mod classes.
inline tensor<std::int64_t, extents<dyn>, on<cpu>> square_labels(std::size_t rows, std::size_t classes) {
  tensor<std::int64_t, extents<dyn>, on<cpu>> y(extents<dyn>{rows});
  for (std::size_t i = 0; i < rows; ++i) y(i) = static_cast<std::int64_t>(i * i % classes);
  return y;
}

}  // namespace devplace::test

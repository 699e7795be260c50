// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/backend/cuda/kernels/rows_kernel.hpp>
#include <devplace/backend/cuda/normalize.cuh>
#include <devplace/ops/group_norm.hpp>

namespace devplace::detail {

template <class T, class Element, class Access, class Group>
DEVPLACE_DEVICE void by_group(const normalize_group<T, Element>& p, Access access, const Group& group, std::size_t row,
                              bool exists) {
  const std::size_t n = p.shape.row(), first = p.shape.first_channel(row);
  const auto x = access.values(group, p.x + row * n, exists ? n : 0);
  const auto normalized = scale_of_row<T, true>(group, x, n, p.epsilon);
  x.write(p.y + row * n, [&](std::size_t i, T v) {
    const std::size_t c = first + quotient(i, p.shape.extent);
    return normalized(v) * p.weight[c] + p.bias[c];
  });
}

template <class T, class Element, class Access, class Group>
DEVPLACE_DEVICE void by_group(const normalize_backward_group<T, Element>& p, Access access, const Group& group,
                              std::size_t row, bool exists) {
  const std::size_t first = p.shape.first_channel(row);
  const auto weight_of = [&](std::size_t i) { return p.weight[first + quotient(i, p.shape.extent)]; };
  normalize_backward<T, true>(p, p.shape.row(), access, group, row, exists, weight_of);
}

}  // namespace devplace::detail

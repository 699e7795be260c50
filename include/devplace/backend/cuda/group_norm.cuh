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
  const std::size_t n = p.shape.row(), first = p.shape.first_channel(row);
  const auto x = access.values(group, p.x + row * n, exists ? n : 0);
  const auto normalized = scale_of_row<T, true>(group, x, n, p.epsilon);
  const Element* const dy = p.dy + row * n;
  T mean = 0, slope = 0;
  x.write(
      p.terms + row * n,
      [&](std::size_t i, T v, T gradient) {
        const T product = gradient * normalized(v), weight = p.weight[first + quotient(i, p.shape.extent)];
        mean += weight * gradient;
        slope += weight * product;
        return product;
      },
      dy);
  mean = group.all_reduce(mean, add_up{}) / static_cast<T>(n);
  slope = group.all_reduce(slope, add_up{}) / static_cast<T>(n);
  if (p.dx == nullptr) return;
  x.write(
      p.dx + row * n,
      [&](std::size_t i, T v, T gradient) {
        const T weight = p.weight[first + quotient(i, p.shape.extent)];
        return normalized.scale * ((weight * gradient - mean) - normalized(v) * slope);
      },
      dy);
}

}  // namespace devplace::detail

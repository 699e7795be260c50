// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/backend/cuda/kernels/rows_kernel.hpp>
#include <devplace/ops/mse.hpp>

namespace devplace::detail {

template <class T, class Formula, class Access, class Group>
DEVPLACE_DEVICE void by_group(const pointwise_row<T, Formula>& p, Access access, const Group& group, std::size_t row,
                              bool exists) {
  const auto x = access.values(group, p.output + row * p.n, exists ? p.n : 0);
  const T* const target = p.target + row * p.n;
  double sum = 0;
  const auto add = [&](std::size_t c, T v, T t) { sum += static_cast<double>(p.formula.loss(v, t, c)); };
  if (p.gradient == nullptr) {
    x.each(add, target);
  } else {
    x.write(
        p.gradient + row * p.n,
        [&](std::size_t c, T v, T t) {
          add(c, v, t);
          return p.formula.derivative(v, t, c);
        },
        target);
  }
  sum = group.all_reduce(sum, add_up{});
  if (exists && group.index() == 0) p.losses[row] = static_cast<T>(sum);
}

}  // namespace devplace::detail

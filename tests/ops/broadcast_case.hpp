// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <random>

#include <devplace/core.hpp>

#include "support/catch.hpp"

// Elementwise operations whose operands are repeated along any axes, on any place. Elements are small integers, so
// every result is exact; expected values are computed on the host from index tuples.
namespace broadcast_case {

namespace dp = devplace;
using host = dp::on<dp::cpu>;
using sizes = std::array<std::size_t, 4>;

inline dp::dextents<4> extents_of(const sizes& n) { return dp::dextents<4>{n[0], n[1], n[2], n[3]}; }

template <class T> auto integers(const sizes& n, std::size_t seed) {
  dp::tensor<T, dp::dextents<4>, host> x(extents_of(n));
  for (std::size_t i = 0; i < x.size(); ++i)
    x.data()[i] = static_cast<T>(static_cast<int>((i * 37 + seed * 11 + i / 7) % 9) - 4);
  return x;
}

template <class X> double element(const X& x, const sizes& i) {
  const auto at = [&](std::size_t axis) { return x.extent(axis) == 1 ? 0 : i[axis]; };
  return static_cast<double>(x(at(0), at(1), at(2), at(3)));
}

/// Checks to = a * b + x for random extents; axes that a and b lack have extent 1. x is the destination, a part of it
/// along the last axis, or a view with exchanged axes.
template <class Where, class T> void check(unsigned trials) {
  std::mt19937 random(7);
  const std::size_t lengths[] = {1, 2, 3, 7, 16, 17, 49, 64, 129, 300};
  for (unsigned trial = 0; trial < trials; ++trial) {
    sizes n{}, of_a{}, of_b{};
    for (std::size_t axis = 0, all = 1; axis < 4; ++axis) {
      do n[axis] = lengths[random() % 10];
      while (n[axis] * all > 20000);
      all *= n[axis];
      of_a[axis] = random() % 2 == 0 ? 1 : n[axis];
      of_b[axis] = random() % 2 == 0 ? 1 : n[axis];
    }
    const auto a = integers<T>(of_a, 1), b = integers<T>(of_b, 2);
    const auto kind = random() % 3;
    sizes whole = n;
    if (kind == 1) whole[3] += 2;
    if (kind == 2) whole = {n[0], n[3], n[2], n[1]};
    const auto x = integers<T>(whole, 3);
    auto to = dp::to<Where>(x);
    const auto there_a = dp::to<Where>(a), there_b = dp::to<Where>(b);
    const auto assign = [&](const auto& view) { dp::assign(view, there_a * there_b + view); };
    if (kind == 0) assign(to.view());
    if (kind == 1) assign(to.view().slice(dp::axis<3>{}, 1, n[3] + 1));
    if (kind == 2) assign(to.view().permute(dp::axis<0>{}, dp::axis<3>{}, dp::axis<2>{}, dp::axis<1>{}));
    const auto result = dp::to<host>(to);
    bool right = true;
    for (std::size_t i = 0; i < whole[0]; ++i)
      for (std::size_t j = 0; j < whole[1]; ++j)
        for (std::size_t k = 0; k < whole[2]; ++k)
          for (std::size_t l = 0; l < whole[3]; ++l) {
            const double old = static_cast<double>(x(i, j, k, l));
            const bool inside = kind != 1 || (l > 0 && l <= n[3]);
            const sizes at = kind == 1 ? sizes{i, j, k, l - 1} : kind == 2 ? sizes{i, l, k, j} : sizes{i, j, k, l};
            const double expected = inside ? element(a, at) * element(b, at) + old : old;
            right = right && static_cast<double>(result(i, j, k, l)) == expected;
          }
    INFO("trial " << trial << ", kind " << kind << ": " << n[0] << "x" << n[1] << "x" << n[2] << "x" << n[3]);
    CHECK(right);
  }
}

}  // namespace broadcast_case

// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The snippets of docs/views.md.
#include <devplace/core.hpp>

#include <algorithm>
#include <numeric>
#include <span>
#include <type_traits>
#include <vector>

#include "support/catch.hpp"

namespace dp = devplace;
using dp::axis;

TEST_CASE("docs/views.md: views", "[docs]") {
  auto x = dp::zeros<float, dp::on<dp::cpu>>(dp::extents<4, 3, 5>{});
  auto second = x[1];                                           // 3x5
  auto column = x.select(axis<2>{}, 0);                         // 4x3: index 0 of axis 2
  auto some = x.slice(axis<1>{}, 0, 2);                         // 4x2x5: indices 0 and 1 of axis 1
  auto every_other = x.slice(axis<2>{}, 0, 5, 2);               // 4x3x3: indices 0, 2 and 4 of axis 2
  auto turned = x.permute(axis<2>{}, axis<0>{}, axis<1>{});     // 5x4x3
  auto repeated = second.broadcast_to(dp::extents<4, 3, 5>{});  // the same matrix four times, read-only
  auto rows = x.reshape(dp::extents<12, 5>{});                  // the same elements
  some = some + 1.0f;                                           // writes to x
  x.select(axis<1>{}, 2) = x.select(axis<1>{}, 0) * 2.0f;
  dp::tensor sums = column + dp::sum(turned, axis<0>{});
  auto copy = dp::to<dp::on<dp::cuda<0>>>(turned);  // a row-major tensor
  CHECK(second.size() == 15);
  CHECK(every_other.extents() == dp::extents<4, 3, 3>{});
  CHECK(repeated.size() == 60);
  CHECK(rows(11, 4) == 2);
  CHECK(sums(1, 0) == 6);
  CHECK(copy.extents() == dp::extents<5, 4, 3>{});
}

TEST_CASE("docs/views.md: ranges", "[docs]") {
  dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cpu>> x{{3, 1, 2}, {6, 5, 4}};
  std::ranges::sort(x[1]);  // one row
  const float total = std::accumulate(x.begin(), x.end(), 0.0f);
  for (float& element : x) element /= total;
  std::ranges::fill(x.select(axis<1>{}, 0), 0.0f);  // a column
  const std::span<float> elements(x);
  for (auto row : dp::rows(x)) row(0) = std::ranges::max(row);  // views of rows
  CHECK(x(0, 0) == 2 / 21.0f);
  CHECK(elements[3] == 6 / 21.0f);
}

template <class X> auto spread(const X& x) {  // x: a tensor, a view or an expression
  const auto& values = dp::evaluated(x);
  return dp::item(dp::max(values)) - dp::item(dp::min(values));
}

TEST_CASE("docs/views.md: expressions in place of elements", "[docs]") {
  const dp::tensor<float, dp::extents<2, 3>, dp::on<dp::cpu>> x{{1, 2, 3}, {4, 5, 6}}, y{{1, 1, 1}, {0, 0, 0}};
  const float width = spread(2.0f * x + y);
  const float dot = dp::item(dp::sum(x * y));
  const float corner = dp::item(x[1][2] + y[0][0]);
  auto probabilities = dp::softmax(x - y);
  CHECK(width == 9);
  CHECK(dot == 6);
  CHECK(corner == 7);
  CHECK(probabilities(0, 0) == probabilities(1, 0));
}

TEST_CASE("docs/views.md: reductions and products", "[docs]") {
  auto x = dp::full<float, dp::on<dp::cpu>>(dp::extents<8, 6, 4>{}, 1);
  auto total = dp::sum(x);                         // a scalar
  auto planes = dp::sum(x, axis<0>{}, axis<2>{});  // extents<6>
  auto means = dp::mean(x, 1);                     // dextents<2>: the type does not know the axis
  auto best = dp::argmax(x, -1);                   // negative numbers count from the last axis
  static_assert(std::is_same_v<decltype(planes)::extents_type, dp::extents<6>>);
  static_assert(std::is_same_v<decltype(means)::extents_type, dp::dextents<2>>);

  auto w = dp::full<float, dp::on<dp::cpu>>(dp::extents<4, 3>{}, 2);
  auto all = dp::matmul(x, w);                   // 8x6x3: each of 8 matrices times w
  auto gram = dp::matmul(x, dp::transposed(x));  // 8x6x6: matrix by matrix
  CHECK(dp::item(total) == 192);
  CHECK(planes(5) == 32);
  CHECK(means(7, 3) == 1);
  CHECK(best.extents() == dp::extents<8, 6>{});
  CHECK(all(7, 5, 2) == 8);
  CHECK(gram(0, 5, 5) == 4);
}

// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/ops/detail/assign_body.hpp>

#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "support/catch.hpp"

TEMPLATE_TEST_CASE("square roots equal std::sqrt bit for bit, for every count and alignment", "[ops]", float, double) {
  using limits = std::numeric_limits<TestType>;
  std::mt19937 random(1);
  std::vector<TestType> numbers{
      0, -TestType{0}, limits::infinity(), limits::denorm_min(), limits::min(), limits::max()};
  while (numbers.size() != 500)
    numbers.push_back(std::ldexp(static_cast<TestType>(random()), static_cast<int>(random() % 200) - 130));
  for (const std::size_t count : {0U, 1U, 2U, 3U, 4U, 5U, 8U, 11U, 490U}) {
    for (const std::size_t from : {0U, 1U}) {
      std::vector<TestType> x = numbers, expected = numbers;
      for (std::size_t i = from; i != from + count; ++i) expected[i] = std::sqrt(expected[i]);
      devplace::detail::take_square_roots(x.data() + from, count);
      CHECK(std::memcmp(x.data(), expected.data(), x.size() * sizeof(TestType)) == 0);
    }
  }
  TestType invalid[] = {-1, limits::quiet_NaN(), -limits::infinity(), -limits::denorm_min(), -2};
  devplace::detail::take_square_roots(invalid, 5);
  for (const TestType root : invalid) CHECK(std::isnan(root));
}

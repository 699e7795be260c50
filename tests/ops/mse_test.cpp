// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/ops/mse.hpp>

#include "support/catch.hpp"
#include "support/element_types.hpp"
#include "support/random_values.hpp"

#include <cmath>

namespace dp = devplace;
using dp::test::random_values;
using on_cpu = dp::on<dp::cpu>;

TEST_CASE("mse by hand", "[ops]") {
  dp::tensor<float, dp::extents<2, 2>, on_cpu> y{{1, 2}, {3, 4}};
  const dp::tensor<float, dp::extents<2, 2>, on_cpu> target{{0, 4}, {3, 1}};
  dp::tensor<float, dp::extents<2>, on_cpu> sums(dp::extents<2>{}), losses(dp::extents<2>{});
  dp::mse_into(sums, y.view().erased(), losses, y, target);  // the gradient overwrites y
  CHECK(sums(0) == 14);
  CHECK(sums(1) == 4);
  CHECK(losses(0) == 5);
  CHECK(losses(1) == 9);
  CHECK(y(0, 0) == 2);
  CHECK(y(0, 1) == -4);
  CHECK(y(1, 0) == 0);
  CHECK(y(1, 1) == 6);
}

TEMPLATE_TEST_CASE("mse agrees with plain loops, for any rank", "[ops]", FLOATING_TYPES) {
  const double tolerance = std::is_same_v<TestType, float> ? 1e-6 : 1e-14;
  const auto check = [tolerance](const auto& y, const auto& target) {
    long double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      const auto difference = static_cast<long double>(y.data()[i]) - static_cast<long double>(target.data()[i]);
      sum += difference * difference;
    }
    const auto expected = static_cast<double>(sum);
    CHECK(static_cast<double>(dp::mse(y, target, dp::reduction::sum)()) == Catch::Approx(expected).epsilon(tolerance));
    CHECK(static_cast<double>(dp::mse(y, target)()) ==
          Catch::Approx(expected / static_cast<double>(y.size())).epsilon(tolerance));
  };
  check(random_values<TestType>(dp::extents<7>{}, 1), random_values<TestType>(dp::extents<7>{}, 2));
  check(random_values<TestType>(dp::extents<5, 100>{}, 1), random_values<TestType>(dp::extents<5, 100>{}, 2));
  check(random_values<TestType>(dp::dextents<3>{5, 3, 9}, 1), random_values<TestType>(dp::extents<5, 3, 9>{}, 2));
}

TEST_CASE("mse of empty arrays, of NaN, and of different extents", "[ops]") {
  const dp::tensor<float, dp::dextents<2>, on_cpu> none(dp::dextents<2>(0, 3)), some(dp::dextents<2>(1, 3));
  CHECK(std::isnan(dp::mse(none, none)()));
  CHECK(dp::mse(none, none, dp::reduction::sum)() == 0);
  CHECK_THROWS_AS(dp::mse(none, some), dp::shape_error);
  CHECK_THROWS_AS(dp::mse(none, none, dp::reduction::min), dp::argument_error);
  const dp::tensor<float, dp::extents<2>, on_cpu> x{1, std::nanf("")};
  CHECK(std::isnan(dp::mse(x, x)()));
}

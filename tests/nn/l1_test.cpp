// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/nn/l1.hpp>

#include <cmath>

#include "support/loss_fixture.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using Catch::Matchers::ContainsSubstring;
using on_cpu = dp::on<dp::cpu>;
using matrix = dp::tensor<double, dp::dextents<2>, on_cpu>;

static_assert(nn::loss<nn::l1>);

TEST_CASE("nn::l1 agrees with PyTorch", "[nn]") { dp::test::compare_loss_in_all(nn::l1{}, "l1"); }

TEST_CASE("nn::l1's gradient agrees with differences, and is 0 at the kink", "[nn]") {
  CHECK(dp::test::worst_difference(nn::l1{}, dp::test::some_predictions(),
                                   dp::test::read_fixture<double, dp::dextents<2>>("losses/l1_mean/f64/target")) <
        1e-7);
  const dp::tensor<float, dp::extents<1, 3>, on_cpu> y{{1, 2, 3}}, t{{1, 1, 4}};
  const auto [loss, gradient] = nn::l1{}(y, t);
  CHECK(support::values_of(gradient.gradient) == std::vector<float>{0, 1, -1});
  CHECK(loss.item() == 2.0F / 3);
}

TEST_CASE("nn::l1 of no samples is NaN as a mean and 0 as a sum", "[nn]") {
  const matrix none(dp::dextents<2>(0, 3));
  CHECK(std::isnan(nn::l1{}(none, none).loss.item()));
  CHECK(nn::l1{.reduce = dp::reduction::sum}(none, none).loss.item() == 0);
}

TEST_CASE("mismatched arguments of nn::l1 are errors", "[nn]") {
  const matrix x(dp::dextents<2>(2, 3)), other(dp::dextents<2>(2, 4));
  CHECK_THROWS_AS((nn::l1{}(x, other)), dp::shape_error);
  CHECK_THROWS_WITH((nn::l1{.reduce = dp::reduction::max}(x, x)), ContainsSubstring("l1: reduce must be"));
}

// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/nn/smooth_l1.hpp>

#include <cmath>

#include <devplace/ops/creation.hpp>
#include <devplace/ops/elementwise.hpp>

#include "support/loss_fixture.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using Catch::Matchers::ContainsSubstring;
using on_cpu = dp::on<dp::cpu>;
using matrix = dp::tensor<double, dp::dextents<2>, on_cpu>;

static_assert(nn::loss<nn::smooth_l1>);

TEST_CASE("nn::smooth_l1 agrees with PyTorch for each beta", "[nn]") {
  dp::test::compare_loss_in_all(nn::smooth_l1{}, "smooth_l1");
  dp::test::compare_loss_in_all(nn::smooth_l1{.beta = 0.25}, "smooth_l1_beta");
  dp::test::compare_loss_in_all(nn::smooth_l1{.beta = 0}, "smooth_l1_beta_0");
}

TEST_CASE("nn::smooth_l1's gradient agrees with differences", "[nn]") {
  const matrix targets = dp::test::read_fixture<double, dp::dextents<2>>("losses/l1_mean/f64/target");
  for (const double beta : {0.25, 1.0, 5.0})
    CHECK(dp::test::worst_difference(nn::smooth_l1{.beta = beta}, dp::test::some_predictions(), targets) < 1e-7);
}

TEST_CASE("invalid options of nn::smooth_l1 are errors", "[nn]") {
  const matrix x(dp::dextents<2>(2, 3));
  const dp::tensor narrow = dp::cast<float>(x);
  CHECK_THROWS_WITH((nn::smooth_l1{.beta = -1}(x, x)), ContainsSubstring("beta is -1"));
  CHECK_THROWS_WITH((nn::smooth_l1{.beta = std::nan("")}(x, x)), ContainsSubstring("at least 0"));
  CHECK_THROWS_WITH((nn::smooth_l1{.beta = 1e39}(narrow, narrow)),
                    ContainsSubstring("a finite number of the output's type"));
  CHECK_THROWS_WITH((nn::smooth_l1{.reduce = dp::reduction::max}(x, x)), ContainsSubstring("reduce must be"));
}

TEST_CASE("nn::smooth_l1 handles differences whose squares overflow", "[nn]") {
  const auto x = dp::full<float, on_cpu>(dp::extents<1, 1>{}, 1e30f),
             y = dp::full<float, on_cpu>(dp::extents<1, 1>{}, 0.0f);
  CHECK(nn::smooth_l1{.beta = 2e30}(x, y).loss.item() == 2.5e29f);
}

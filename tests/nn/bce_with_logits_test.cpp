// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/nn/bce_with_logits.hpp>

#include <cmath>
#include <limits>

#include "support/loss_fixture.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using Catch::Matchers::ContainsSubstring;
using on_cpu = dp::on<dp::cpu>;
using matrix = dp::tensor<double, dp::dextents<2>, on_cpu>;

static_assert(nn::loss<nn::bce_with_logits>);

TEST_CASE("nn::bce_with_logits agrees with PyTorch with all its options", "[nn]") {
  const std::vector<double> positive{0.5, 2, 3}, weights{1.5, 0.25, 0};
  dp::test::compare_loss_in_all(nn::bce_with_logits{}, "bce_with_logits");
  dp::test::compare_loss_in_all(nn::bce_with_logits{}, "bce_with_logits_large");
  dp::test::compare_loss_in_all(nn::bce_with_logits{.pos_weight = positive}, "bce_with_logits_pos_weight");
  dp::test::compare_loss_in_all(nn::bce_with_logits{.pos_weight = positive, .weights = weights},
                                "bce_with_logits_weights");
}

TEST_CASE("nn::bce_with_logits's gradient agrees with differences", "[nn]") {
  const matrix targets = dp::test::read_fixture<double, dp::dextents<2>>("losses/bce_with_logits_mean/f64/target");
  CHECK(dp::test::worst_difference(nn::bce_with_logits{}, dp::test::some_predictions(), targets) < 1e-7);
  const nn::bce_with_logits weighted{.pos_weight = {2}, .weights = {1, 2, 3}};
  CHECK(dp::test::worst_difference(weighted, dp::test::some_predictions(), targets) < 1e-7);
}

TEST_CASE("nn::bce_with_logits is exact for certain decisions, and never overflows", "[nn]") {
  const float inf = std::numeric_limits<float>::infinity();
  const dp::tensor<float, dp::extents<1, 6>, on_cpu> x{{inf, -inf, inf, 1000, -1000, -80}}, t{{1, 0, 0, 1, 1, 0}};
  const auto [loss, gradient] = nn::bce_with_logits{}(x, t);
  const std::vector<float> derivatives = support::values_of(gradient.gradient);
  CHECK(derivatives[0] == 0);
  CHECK(derivatives[1] == 0);
  CHECK(derivatives[2] == 1);
  CHECK(derivatives[3] == 0);
  CHECK(derivatives[4] == -1);
  CHECK(derivatives[5] == Catch::Approx(std::exp(-80.0)).epsilon(1e-6));
  CHECK(loss.item() == inf);
  const dp::tensor<float, dp::extents<1, 2>, on_cpu> unlikely{{-80, 1000}}, none{{0, 1}};
  CHECK(nn::bce_with_logits{.reduce = dp::reduction::sum}(unlikely, none).loss.item() ==
        Catch::Approx(std::exp(-80.0)).epsilon(1e-6));
}

TEST_CASE("invalid options of nn::bce_with_logits are errors", "[nn]") {
  const matrix x(dp::dextents<2>(2, 3));
  CHECK_THROWS_WITH((nn::bce_with_logits{.pos_weight = {1, 2}}(x, x)), ContainsSubstring("a sample has 3 logits"));
  CHECK_THROWS_WITH((nn::bce_with_logits{.weights = {1, 2}}(x, x)), ContainsSubstring("weights has 2 values"));
  CHECK_THROWS_WITH((nn::bce_with_logits{.reduce = dp::reduction::max}(x, x)), ContainsSubstring("reduce must be"));
}

// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Losses other than cross-entropy and mse (loss_test.cpp) against PyTorch and finite differences.

#include <cmath>
#include <limits>

#include <devplace/nn/bce_with_logits.hpp>
#include <devplace/nn/kl_div.hpp>
#include <devplace/nn/l1.hpp>
#include <devplace/nn/nll.hpp>
#include <devplace/nn/smooth_l1.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/ops/elementwise.hpp>

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

static_assert(nn::loss<nn::kl_div>);

TEST_CASE("nn::kl_div agrees with PyTorch", "[nn]") {
  dp::test::compare_loss_in_all(nn::kl_div{}, "kl_div");
  dp::test::compare_loss_in_all(nn::kl_div{}, "kl_div_zeros");
  dp::test::compare_loss_in_all(nn::kl_div{.log_target = true}, "kl_div_log_target");
  dp::test::compare_loss<float, on_cpu>(nn::kl_div{.batchmean = true}, "kl_div_batchmean");
  dp::test::compare_loss<double, on_cpu>(nn::kl_div{.batchmean = true}, "kl_div_batchmean");
}

TEST_CASE("nn::kl_div's gradient agrees with differences", "[nn]") {
  const matrix targets = dp::test::read_fixture<double, dp::dextents<2>>("losses/kl_div_mean/f64/target");
  CHECK(dp::test::worst_difference(nn::kl_div{}, dp::test::some_predictions(), targets) < 1e-7);
  CHECK(dp::test::worst_difference(nn::kl_div{.log_target = true}, dp::test::some_predictions(), targets) < 1e-7);
}

TEST_CASE("nn::kl_div adds 0 where the target is 0, even where the output is -infinity", "[nn]") {
  const double inf = std::numeric_limits<double>::infinity();
  const dp::tensor<double, dp::extents<1, 2>, on_cpu> x{{-inf, 0}}, p{{0, 1}}, log_p{{-inf, 0}};
  const auto [loss, gradient] = nn::kl_div{}(x, p);
  CHECK(loss.item() == 0);
  CHECK(support::values_of(gradient.gradient) == std::vector<double>{0, -1});
  CHECK(nn::kl_div{.log_target = true}(x, log_p).loss.item() == 0);
}

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

static_assert(nn::loss<nn::nll>);

TEST_CASE("nn::nll agrees with PyTorch with all its options", "[nn]") {
  const std::vector<double> classes{0.5, 2, 1.25};
  dp::test::compare_loss_in_all(nn::nll{}, "nll");
  dp::test::compare_loss_in_all(nn::nll{}, "nll_ignore");
  dp::test::compare_loss_in_all(nn::nll{}, "nll_ignore_all");
  dp::test::compare_loss_in_all(nn::nll{.class_weights = classes}, "nll_weight");
  dp::test::compare_loss_in_all(nn::nll{.ignore_index = 1, .class_weights = classes}, "nll_ignore_class_1");
}

TEST_CASE("nn::nll's gradient agrees with differences", "[nn]") {
  const dp::tensor<std::uint8_t, dp::extents<5>, on_cpu> labels{2, 0, 1, 1, 2};
  CHECK(dp::test::worst_difference(nn::nll{.class_weights = {1, 2, 3}}, dp::test::some_predictions(), labels) < 1e-7);
}

TEST_CASE("invalid options and labels of nn::nll are errors", "[nn]") {
  const matrix x = dp::test::some_predictions();
  const dp::tensor<std::int32_t, dp::dextents<1>, on_cpu> few(dp::dextents<1>{3});
  const dp::tensor<std::int64_t, dp::extents<5>, on_cpu> labels{0, 1, 2, 3, 0};
  CHECK_THROWS_WITH(nn::nll{}(x, labels).item(), ContainsSubstring("a batch has a label that is neither a class"));
  CHECK_THROWS_WITH((nn::nll{}(x, few)), ContainsSubstring("output is 5x3 and labels are 3;"));
  CHECK_THROWS_WITH((nn::nll{.class_weights = {1, 2}}(x, labels)), ContainsSubstring("3 classes"));
  CHECK_THROWS_WITH((nn::nll{.reduce = dp::reduction::max}(x, labels)), ContainsSubstring("reduce must be"));
}

// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/nn/kl_div.hpp>

#include <limits>

#include "support/loss_fixture.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using Catch::Matchers::ContainsSubstring;
using on_cpu = dp::on<dp::cpu>;
using matrix = dp::tensor<double, dp::dextents<2>, on_cpu>;

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

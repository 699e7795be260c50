// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/nn/nll.hpp>

#include "support/loss_fixture.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using Catch::Matchers::ContainsSubstring;
using on_cpu = dp::on<dp::cpu>;
using matrix = dp::tensor<double, dp::dextents<2>, on_cpu>;

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

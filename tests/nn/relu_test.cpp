// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <limits>

#include <devplace/nn/gradient_check.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/ops/linear_gradients.hpp>

#include "support/layer_fixture.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

TEST_CASE("relu agrees with PyTorch", "[nn]") {
  using net = nn::sequential<nn::input<7>, nn::relu>;
  dp::test::compare_with_pytorch_in_both<net, dp::extents<5, 7>, dp::extents<5, 7>>("relu");
  dp::test::compare_with_pytorch_in_both<net, dp::extents<5, 7>, dp::extents<5, 7>>("relu_large");
}

TEST_CASE("relu's gradient agrees with differences", "[nn]") {
  const auto alone = nn::check_gradients<nn::sequential<nn::input<7>, nn::relu>>(dp::seed{4});
  INFO(alone.where);
  CHECK(alone.checked == 21);
  CHECK(alone.worst < 1e-7);
  const auto inside = nn::check_gradients<nn::sequential<nn::linear<4, 5>, nn::relu, nn::linear<5, 3>>>(dp::seed{5});
  INFO(inside.where);
  CHECK(inside.worst < 1e-7);
}

TEST_CASE("relu propagates the gradient at NaN, alone and fused with a linear layer", "[nn]") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  using row = dp::tensor<float, dp::extents<1, 4>, dp::on<dp::cpu>>;
  const row y{{nan, 0, 2, nan}}, dy{{1, 2, 3, 4}};
  const row alone = nn::relu::gradient(dy, y);
  row fused(dp::extents<1, 4>{});
  dp::tensor<float, dp::extents<4>, dp::on<dp::cpu>> sums{0, 0, 0, 0};
  dp::detail::relu_gradient_into(fused.view(), dy.view(), y.view(), sums.view(), 0.0f);
  for (const row* gradient : {&alone, static_cast<const row*>(&fused)}) {
    CHECK((*gradient)(0, 0) == 1);
    CHECK((*gradient)(0, 1) == 0);
    CHECK((*gradient)(0, 2) == 3);
    CHECK((*gradient)(0, 3) == 4);
  }
}

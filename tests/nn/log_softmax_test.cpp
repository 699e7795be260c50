// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/nn/gradient_check.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/log_softmax.hpp>
#include <devplace/nn/sequential.hpp>

#include "support/layer_fixture.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

TEST_CASE("log_softmax agrees with PyTorch", "[nn]") {
  using net = nn::sequential<nn::input<7>, nn::log_softmax>;
  dp::test::compare_with_pytorch_in_both<net, dp::extents<5, 7>, dp::extents<5, 7>>("log_softmax");
  dp::test::compare_with_pytorch_in_both<net, dp::extents<5, 7>, dp::extents<5, 7>>("log_softmax_large");
}

TEST_CASE("log_softmax's gradient agrees with differences", "[nn]") {
  const auto alone = nn::check_gradients<nn::sequential<nn::input<7>, nn::log_softmax>>(dp::seed{4});
  INFO(alone.where);
  CHECK(alone.checked == 21);
  CHECK(alone.worst < 1e-7);
  const auto inside =
      nn::check_gradients<nn::sequential<nn::linear<4, 5>, nn::log_softmax, nn::linear<5, 3>>>(dp::seed{5});
  INFO(inside.where);
  CHECK(inside.worst < 1e-7);
}

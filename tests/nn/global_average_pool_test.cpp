// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/nn/global_average_pool.hpp>
#include <devplace/nn/gradient_check.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/sequential.hpp>

#include "support/layer_fixture.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

using net = nn::sequential<nn::input<2, 5, 3>, nn::global_average_pool>;
using net_of_series = nn::sequential<nn::input<2, 5>, nn::global_average_pool>;

TEST_CASE("global_average_pool agrees with PyTorch", "[nn]") {
  dp::test::compare_with_pytorch_in_both<net, dp::extents<3, 2, 5, 3>, dp::extents<3, 2>>(
      "convolutions/global_average_pool");
  dp::test::compare_with_pytorch<net_of_series, double, dp::extents<3, 2, 5>, dp::extents<3, 2>>(
      "convolutions/global_average_pool_one_axis");
}

TEST_CASE("global_average_pool's gradient agrees with differences", "[nn]") {
  CHECK(nn::check_gradients<net>(dp::seed{1}).worst < 1e-7);
  CHECK(nn::check_gradients<net_of_series>(dp::seed{1}).worst < 1e-7);
}

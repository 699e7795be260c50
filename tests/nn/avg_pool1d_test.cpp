// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/nn/avg_pool1d.hpp>
#include <devplace/nn/gradient_check.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/sequential.hpp>

#include "support/layer_fixture.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

namespace {

using net = nn::sequential<nn::input<3, 11>, nn::avg_pool1d<nn::kernel<3>, nn::stride<2>, nn::padding<1>>>;

}  // namespace

TEST_CASE("avg_pool1d agrees with PyTorch", "[nn]") {
  dp::test::compare_with_pytorch<net, double, dp::extents<2, 3, 11>, dp::extents<2, 3, 6>>(
      "convolutions/average_pool_one_axis");
}

TEST_CASE("avg_pool1d's gradient agrees with differences", "[nn]") {
  CHECK(nn::check_gradients<net>(dp::seed{1}).worst < 1e-7);
}

// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/nn/conv1d.hpp>
#include <devplace/nn/gradient_check.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/sequential.hpp>

#include "support/layer_fixture.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

TEST_CASE("conv1d agrees with PyTorch", "[nn]") {
  using net = nn::sequential<nn::input<2, 12>, nn::conv1d<2, 4, nn::kernel<5>, nn::padding<2>, nn::stride<2>>>;
  dp::test::compare_with_pytorch<net, double, dp::extents<3, 2, 12>, dp::extents<3, 4, 6>>("convolutions/one_axis",
                                                                                           {"weight", "bias"});
}

TEST_CASE("conv1d's gradients agree with differences", "[nn]") {
  using layer = nn::conv1d<4, 6, nn::kernel<3>, nn::dilation<2>, nn::groups<2>, nn::no_bias>;
  CHECK(nn::check_gradients<nn::sequential<nn::input<4, 9>, layer>>(dp::seed{1}).worst < 1e-7);
}

TEST_CASE("conv1d's weight has three axes", "[nn]") {
  using layer = nn::conv1d<4, 6, nn::kernel<3>, nn::groups<2>>;
  STATIC_REQUIRE(layer::parameters[0].shape.rank == 3);
  STATIC_REQUIRE(layer::parameters[0].shape.size() == 6 * 2 * 3);
}

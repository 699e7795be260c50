// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/nn/conv_transpose2d.hpp>
#include <devplace/nn/gradient_check.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/sequential.hpp>

#include "support/layer_fixture.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using dp::test::compare_with_pytorch, dp::test::compare_with_pytorch_in_both;

namespace {

using doubling = nn::conv_transpose2d<3, 4, nn::kernel<2>, nn::stride<2>>;
using padded = nn::conv_transpose2d<3, 2, nn::kernel<3>, nn::padding<1>>;
using everything = nn::conv_transpose2d<4, 6, nn::kernel<3, 2>, nn::groups<2>, nn::stride<2, 3>, nn::padding<1, 0>,
                                        nn::dilation<1, 2>, nn::no_bias>;

}  // namespace

TEST_CASE("conv_transpose2d agrees with PyTorch", "[nn]") {
  compare_with_pytorch<nn::sequential<nn::input<3, 4, 5>, doubling>, double, dp::extents<2, 3, 4, 5>,
                       dp::extents<2, 4, 8, 10>>("convolutions/transposed", {"weight", "bias"});
  compare_with_pytorch<nn::sequential<nn::input<3, 5, 4>, padded>, double, dp::extents<2, 3, 5, 4>,
                       dp::extents<2, 2, 5, 4>>("convolutions/transposed_padded", {"weight", "bias"});
  compare_with_pytorch_in_both<nn::sequential<nn::input<4, 4, 3>, everything>, dp::extents<2, 4, 4, 3>,
                               dp::extents<2, 6, 7, 9>>("convolutions/transposed_everything", {"weight"});
}

TEST_CASE("conv_transpose2d's gradients agree with differences", "[nn]") {
  CHECK(nn::check_gradients<nn::sequential<nn::input<3, 4, 5>, doubling>>(dp::seed{1}).worst < 1e-7);
  CHECK(nn::check_gradients<nn::sequential<nn::input<4, 4, 3>, everything>>(dp::seed{2}).worst < 1e-7);
}

TEST_CASE("conv_transpose2d is initialised as in PyTorch", "[nn]") {
  STATIC_REQUIRE(everything::parameters.size() == 1);
  STATIC_REQUIRE(everything::parameters[0].init == nn::init::fan_in_uniform(3 * 3 * 2));
  STATIC_REQUIRE(doubling::parameters[0].shape.size() == 3 * 4 * 2 * 2);
  STATIC_REQUIRE(doubling::parameters[1].shape.size() == 4);
}

// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/nn/group_norm.hpp>

#include <ratio>

#include <devplace/nn/gradient_check.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/sequential.hpp>

#include "support/layer_fixture.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using dp::test::compare_with_pytorch, dp::test::compare_with_pytorch_in_both;

TEST_CASE("group_norm agrees with PyTorch", "[nn]") {
  using row = dp::extents<5, 6>;
  using images = dp::extents<2, 6, 3, 5>;
  using small = dp::extents<3, 4, 2>;
  compare_with_pytorch<nn::sequential<nn::input<6>, nn::group_norm<2, 6>>, double, row, row>(
      "normalizations/group_norm", {"weight", "bias"});
  compare_with_pytorch_in_both<nn::sequential<nn::input<6, 3, 5>, nn::group_norm<3, 6>>, images, images>(
      "normalizations/group_norm_images", {"weight", "bias"});
  compare_with_pytorch<nn::sequential<nn::input<4, 2>, nn::group_norm<1, 4, std::ratio<1, 1000>>>, double, small,
                       small>("normalizations/group_norm_options", {"weight", "bias"});
}

TEST_CASE("group_norm's gradient agrees with differences", "[nn]") {
  CHECK(nn::check_gradients<nn::sequential<nn::input<6, 3, 5>, nn::group_norm<3, 6>>>(dp::seed{4}).worst < 1e-6);
}

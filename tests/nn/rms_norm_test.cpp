// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ratio>

#include <devplace/nn/gradient_check.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/rms_norm.hpp>
#include <devplace/nn/sequential.hpp>

#include "support/layer_fixture.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using dp::test::compare_with_pytorch, dp::test::compare_with_pytorch_in_both;

TEST_CASE("rms_norm agrees with PyTorch", "[nn]") {
  using row = dp::extents<5, 7>;
  using rows = dp::extents<5, 3, 7>;
  compare_with_pytorch_in_both<nn::sequential<nn::input<7>, nn::rms_norm<7>>, row, row>("rms_norm", {"weight"});
  compare_with_pytorch<nn::sequential<nn::input<3, 7>, nn::rms_norm<7>>, double, rows, rows>("rms_norm_axes",
                                                                                             {"weight"});
  compare_with_pytorch<nn::sequential<nn::input<7>, nn::rms_norm<7, std::ratio<1, 1000>>>, double, row, row>(
      "rms_norm_epsilon", {"weight"});
}

TEST_CASE("rms_norm's gradient agrees with differences", "[nn]") {
  CHECK(nn::check_gradients<nn::sequential<nn::input<3, 7>, nn::rms_norm<7>>>(dp::seed{4}).worst < 1e-6);
  CHECK(nn::check_gradients<nn::sequential<nn::linear<4, 9>, nn::rms_norm<9>, nn::linear<9, 3>>>(dp::seed{5}).worst <
        1e-6);
}

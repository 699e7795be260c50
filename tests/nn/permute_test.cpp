// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/nn/gradient_check.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/permute.hpp>
#include <devplace/nn/sequential.hpp>

#include "support/layer_fixture.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using dp::test::compare_with_pytorch, dp::test::compare_with_pytorch_in_both;

TEST_CASE("permute agrees with PyTorch", "[nn]") {
  compare_with_pytorch_in_both<nn::sequential<nn::input<2, 3, 4>, nn::permute<1, 2, 0>>, dp::extents<5, 2, 3, 4>,
                               dp::extents<5, 3, 4, 2>>("permute");
  compare_with_pytorch<nn::sequential<nn::input<3, 4>, nn::permute<1, 0>>, double, dp::extents<5, 3, 4>,
                       dp::extents<5, 4, 3>>("permute_of_two");
}

TEST_CASE("permute's gradient agrees with differences, also for equal extents", "[nn]") {
  using net = nn::sequential<nn::input<2, 2, 3, 2>, nn::permute<3, 1, 0, 2>, nn::linear<3, 3>, nn::permute<1, 2, 0, 3>>;
  CHECK(nn::check_gradients<net>(dp::seed{1}).worst < 1e-7);
}

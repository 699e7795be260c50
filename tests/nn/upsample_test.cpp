// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <vector>

#include <devplace/nn/gradient_check.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/upsample.hpp>

#include "support/layer_fixture.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

TEST_CASE("upsample agrees with PyTorch", "[nn]") {
  dp::test::compare_with_pytorch_in_both<nn::sequential<nn::input<2, 3, 4>, nn::upsample<2>>, dp::extents<2, 2, 3, 4>,
                                         dp::extents<2, 2, 6, 8>>("convolutions/upsample");
}

TEST_CASE("upsample's gradient agrees with differences", "[nn]") {
  CHECK(nn::check_gradients<nn::sequential<nn::input<2, 3, 4>, nn::upsample<2>>>(dp::seed{1}).worst < 1e-7);
}

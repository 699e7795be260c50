// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/nn/gradient_check.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/residual.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/tanh.hpp>

#include "support/layer_fixture.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

TEST_CASE("residual agrees with PyTorch", "[nn]") {
  dp::test::compare_with_pytorch<nn::residual<nn::linear<6, 8>, nn::relu, nn::linear<8, 6>>, double, dp::extents<5, 6>,
                                 dp::extents<5, 6>>("residual", {"weight0", "bias0", "weight1", "bias1"});
}

TEST_CASE("residual with a projection agrees with PyTorch", "[nn]") {
  dp::test::compare_with_pytorch_in_both<
      nn::residual<nn::projected_by<nn::linear<6, 3>>, nn::linear<6, 8>, nn::relu, nn::linear<8, 3>>, dp::extents<5, 6>,
      dp::extents<5, 3>>("branches/projected", {"w0", "b0", "w1", "b1", "ws", "bs"});
}

TEST_CASE("residual's gradients agree with differences, also inside other layers", "[nn]") {
  using block = nn::residual<nn::linear<4, 6>, nn::tanh, nn::linear<6, 4>>;
  CHECK(nn::check_gradients<block>(dp::seed{1}).worst < 1e-7);
  CHECK(nn::check_gradients<nn::sequential<nn::linear<3, 4>, block, nn::tanh, block, nn::linear<4, 2>>>(dp::seed{2})
            .worst < 1e-7);
  CHECK(nn::check_gradients<nn::sequential<nn::input<4>, nn::residual<nn::tanh, block, nn::tanh>>>(dp::seed{3}).worst <
        1e-7);
}

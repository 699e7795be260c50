// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/nn/input.hpp>
#include <devplace/nn/positional_embedding.hpp>
#include <devplace/nn/sequential.hpp>

#include "support/layer_fixture.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

TEST_CASE("positional_embedding agrees with PyTorch", "[nn]") {
  using net = nn::sequential<nn::input<3, 2>, nn::positional_embedding<3, 2>>;
  dp::test::compare_with_pytorch_in_both<net, dp::extents<4, 3, 2>, dp::extents<4, 3, 2>>("attention/position",
                                                                                          {"weight"});
}

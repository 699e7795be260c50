// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/nn/flatten.hpp>
#include <devplace/nn/gradient_check.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/reshape.hpp>
#include <devplace/nn/sequential.hpp>

#include "support/layer_fixture.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

TEST_CASE("reshape agrees with PyTorch's Unflatten", "[nn]") {
  dp::test::compare_with_pytorch<nn::sequential<nn::input<24>, nn::reshape<2, 3, 4>>, double, dp::extents<5, 24>,
                                 dp::extents<5, 2, 3, 4>>("reshape");
}

TEST_CASE("reshape needs no memory inside a network, and preserves kept outputs", "[nn]") {
  using with = nn::sequential<nn::linear<4, 12>, nn::relu, nn::reshape<2, 6>, nn::linear<6, 2>, nn::reshape<4>>;
  using without = nn::sequential<nn::linear<4, 12>, nn::relu, nn::flatten, nn::linear<12, 4>>;
  STATIC_REQUIRE(dp::runtime::network_plan<with>::saved_bytes(64, nn::mode::train, {4, 4, 4}) ==
                 dp::runtime::network_plan<without>::saved_bytes(64, nn::mode::train, {4, 4, 4}));
  CHECK(nn::check_gradients<with>(dp::seed{1}).worst < 1e-7);
}

// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <concepts>

#include <devplace/nn/concat_of.hpp>
#include <devplace/nn/conv2d.hpp>
#include <devplace/nn/identity.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/tanh.hpp>

#include "support/layer_fixture.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

namespace {

using network_of_parts = nn::sequential<nn::input<2, 4, 5>,
                                        nn::concat_of<nn::sequential<nn::conv2d<2, 3, nn::kernel<1>>, nn::relu>,
                                                      nn::identity, nn::conv2d<2, 2, nn::kernel<3>, nn::padding<1>>>,
                                        nn::concat_of<dp::axis<3>, nn::identity, nn::tanh>>;

}  // namespace

TEST_CASE("concat_of agrees with PyTorch along any axis", "[nn]") {
  STATIC_REQUIRE(std::same_as<nn::network_output_t<network_of_parts>, dp::extents<7, 4, 10>>);
  dp::test::compare_with_pytorch_in_both<network_of_parts, dp::extents<3, 2, 4, 5>, dp::extents<3, 7, 4, 10>>(
      "branches/joined", {"w0", "b0", "w1", "b1"});
}

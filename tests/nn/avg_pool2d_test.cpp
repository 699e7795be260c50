// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <vector>

#include <devplace/nn/avg_pool2d.hpp>
#include <devplace/nn/gradient_check.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/sequential.hpp>

#include "support/layer_fixture.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using dp::test::compare_with_pytorch, dp::test::compare_with_pytorch_in_both;

namespace {

using two = nn::avg_pool2d<nn::kernel<2>>;
using overlapping = nn::avg_pool2d<nn::kernel<3, 2>, nn::stride<2, 1>, nn::padding<1>>;

template <class Layer> using net = nn::sequential<nn::input<2, 7, 6>, Layer>;

}  // namespace

TEST_CASE("avg_pool2d agrees with PyTorch, including padding in means", "[nn]") {
  using in = dp::extents<2, 2, 7, 6>;
  compare_with_pytorch<net<two>, double, in, dp::extents<2, 2, 3, 3>>("convolutions/average_pool");
  compare_with_pytorch_in_both<net<overlapping>, in, dp::extents<2, 2, 4, 7>>("convolutions/average_pool_overlapping");
}

TEST_CASE("avg_pool2d's gradient agrees with differences", "[nn]") {
  CHECK(nn::check_gradients<net<two>>(dp::seed{1}).worst < 1e-7);
  CHECK(nn::check_gradients<net<overlapping>>(dp::seed{2}).worst < 1e-7);
}

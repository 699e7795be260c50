// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Layers that change only the shape of samples.

#include <devplace/nn/flatten.hpp>
#include <devplace/nn/gradient_check.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/permute.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/reshape.hpp>
#include <devplace/nn/sequential.hpp>

#include "support/layer_fixture.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using dp::test::compare_with_pytorch, dp::test::compare_with_pytorch_in_both;

TEST_CASE("flatten agrees with PyTorch", "[nn]") {
  dp::test::compare_with_pytorch<nn::sequential<nn::input<3, 4>, nn::flatten>, double, dp::extents<5, 3, 4>,
                                 dp::extents<5, 12>>("flatten");
}

TEST_CASE("flatten needs no memory inside a network", "[nn]") {
  using with = nn::sequential<nn::input<3, 4>, nn::flatten, nn::linear<12, 2>>;
  using without = nn::linear<12, 2>;
  STATIC_REQUIRE(dp::runtime::network_plan<with>::saved_bytes(64, nn::mode::train, {4, 4, 4}) ==
                 dp::runtime::network_plan<nn::sequential<without>>::saved_bytes(64, nn::mode::train, {4, 4, 4}));
  CHECK(nn::check_gradients<with>(dp::seed{1}).worst < 1e-7);
}

TEST_CASE("flatten preserves the output of a layer that keeps it", "[nn]") {
  using net = nn::sequential<nn::input<2, 3>, nn::flatten, nn::linear<6, 4>, nn::relu, nn::flatten, nn::relu,
                             nn::linear<4, 2>, nn::flatten>;
  CHECK(nn::check_gradients<net>(dp::seed{3}).worst < 1e-7);
}

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

// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/nn/input.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/tanh.hpp>

#include <type_traits>

#include "support/catch.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

TEST_CASE("input declares the extents of a sample and changes nothing", "[nn]") {
  using net = nn::sequential<nn::input<28, 28>, nn::tanh>;
  STATIC_REQUIRE(std::is_same_v<dp::runtime::network_plan<net>::input, dp::extents<28, 28>>);
  STATIC_REQUIRE(std::is_same_v<nn::network_output_t<net>, dp::extents<28, 28>>);
  STATIC_REQUIRE(dp::runtime::network_plan<net>::parameters == 0);
}

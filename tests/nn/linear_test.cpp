// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/nn/gradient_check.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/sequential.hpp>

#include "support/layer_fixture.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

TEST_CASE("linear agrees with PyTorch, with and without bias", "[nn]") {
  dp::test::compare_with_pytorch_in_both<nn::linear<7, 4>, dp::extents<5, 7>, dp::extents<5, 4>>("linear_bias",
                                                                                                 {"weight", "bias"});
  dp::test::compare_with_pytorch_in_both<nn::linear<7, 4, false>, dp::extents<5, 7>, dp::extents<5, 4>>(
      "linear_no_bias", {"weight"});
}

TEST_CASE("linear's gradients agree with differences, at edge sizes too", "[nn]") {
  CHECK(nn::check_gradients<nn::linear<3, 4>>(dp::seed{1}).worst < 1e-7);
  CHECK(nn::check_gradients<nn::linear<1, 1>>(dp::seed{2}, 1).worst < 1e-7);
  CHECK(nn::check_gradients<nn::linear<17, 1>>(dp::seed{3}, 2).worst < 1e-7);
  CHECK(nn::check_gradients<nn::linear<1, 10, false>>(dp::seed{4}, 5).worst < 1e-7);
}

TEST_CASE("linear lists its parameters as PyTorch does", "[nn]") {
  using layer = nn::linear<784, 256>;
  STATIC_REQUIRE(layer::parameters.size() == 2);
  STATIC_REQUIRE(layer::parameters[0].shape.size() == 784 * 256);
  STATIC_REQUIRE(layer::parameters[1].shape.size() == 256);
  STATIC_REQUIRE(layer::parameters[0].init == nn::init::uniform(1.0 / 28));
  STATIC_REQUIRE(nn::linear<784, 256, false>::parameters.size() == 1);
  CHECK(std::string(layer::parameters[0].name) == "weight");
  CHECK(std::string(layer::parameters[1].name) == "bias");
}

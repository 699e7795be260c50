// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/nn/gradient_check.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/sigmoid.hpp>
#include <devplace/nn/softmax.hpp>
#include <devplace/nn/tanh.hpp>

#include <string>
#include <type_traits>
#include <vector>

#include "support/layer_fixture.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

TEST_CASE("sequential agrees with PyTorch", "[nn]") {
  dp::test::compare_with_pytorch_in_both<nn::sequential<nn::linear<6, 5>, nn::relu, nn::linear<5, 3>>,
                                         dp::extents<5, 6>, dp::extents<5, 3>>(
      "mlp", {"weight0", "bias0", "weight1", "bias1"});
}

TEST_CASE("a network deduced from objects has the type made of their types", "[nn]") {
  const nn::sequential layers{nn::linear<3, 4>{}, nn::relu{}};
  using written = nn::sequential<nn::linear<3, 4>, nn::relu>;
  CHECK(std::is_same_v<decltype(layers), const written>);
  CHECK(dp::model<std::remove_const_t<decltype(layers)>, dp::cpu>(dp::seed{1}).parameter_count() == 16);
}

TEST_CASE("sequential's gradients agree with differences for every way of sharing activation memory", "[nn]") {
  CHECK(nn::check_gradients<nn::sequential<nn::linear<3, 4>>>(dp::seed{1}).worst < 1e-7);
  CHECK(nn::check_gradients<nn::sequential<nn::linear<3, 4>, nn::tanh>>(dp::seed{2}).worst < 1e-7);
  CHECK(nn::check_gradients<nn::sequential<nn::linear<3, 4>, nn::tanh, nn::sigmoid, nn::tanh>>(dp::seed{3}).worst <
        1e-7);
  CHECK(nn::check_gradients<
            nn::sequential<nn::linear<3, 40>, nn::tanh, nn::linear<40, 2>, nn::tanh, nn::linear<2, 30>, nn::softmax>>(
            dp::seed{4}, 5)
            .worst < 1e-7);
  CHECK(nn::check_gradients<nn::sequential<nn::linear<3, 4>, nn::linear<4, 5>, nn::linear<5, 2>>>(dp::seed{5}).worst <
        1e-7);
}

TEST_CASE("sequential can be nested", "[nn]") {
  using inner = nn::sequential<nn::linear<4, 6>, nn::tanh, nn::linear<6, 4>>;
  using net = nn::sequential<nn::linear<3, 4>, inner, nn::tanh, inner>;
  const auto check = nn::check_gradients<net>(dp::seed{6});
  INFO(check.where);
  CHECK(check.worst < 1e-7);
  std::vector<std::string> names;
  dp::runtime::network_plan<net>::for_each_parameter(
      [&](const std::string& name, auto, std::size_t) { names.push_back(name); });
  CHECK(names == std::vector<std::string>{"0.weight", "0.bias", "1.0.weight", "1.0.bias", "1.2.weight", "1.2.bias",
                                          "3.0.weight", "3.0.bias", "3.2.weight", "3.2.bias"});
}

TEST_CASE("sequential's sizes are known at compile time", "[nn]") {
  using net = nn::sequential<nn::linear<784, 256>, nn::relu, nn::linear<256, 10>>;
  using plan = dp::runtime::network_plan<net>;
  STATIC_REQUIRE(plan::parameters == 203530);
  STATIC_REQUIRE(std::is_same_v<plan::output, dp::extents<10>>);
  // relu works in place on the product: backward needs one activation of 256, none for the relu.
  STATIC_REQUIRE(plan::saved_bytes(64, nn::mode::train, {4, 4, 4}) == 64 * 256 * 4);
}

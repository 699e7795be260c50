// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ratio>

#include <devplace/nn/leaky_relu.hpp>

#include "support/activation_fixture.hpp"

namespace nn = devplace::nn;
using devplace::test::compare_activation_alone_with_differences;
using devplace::test::compare_activation_with_differences;
using devplace::test::compare_activation_with_pytorch;
using devplace::test::compare_option_with_pytorch;

TEST_CASE("leaky_relu agrees with PyTorch", "[nn]") {
  compare_activation_with_pytorch<nn::leaky_relu<>>("leaky_relu");
  compare_option_with_pytorch<nn::leaky_relu<std::ratio<1, 5>>>("leaky_relu_slope");
}

TEST_CASE("leaky_relu's gradient agrees with differences", "[nn]") {
  compare_activation_with_differences<nn::leaky_relu<>>();
  compare_activation_alone_with_differences<nn::leaky_relu<std::ratio<1, 5>>>();
}

// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/nn/gelu.hpp>

#include "support/activation_fixture.hpp"

namespace nn = devplace::nn;
using devplace::test::compare_activation_with_differences;
using devplace::test::compare_activation_with_pytorch;

TEST_CASE("gelu agrees with PyTorch", "[nn]") {
  compare_activation_with_pytorch<nn::gelu>("gelu");
  compare_activation_with_pytorch<nn::gelu_tanh>("gelu_tanh");
}

TEST_CASE("gelu's gradient agrees with differences", "[nn]") {
  compare_activation_with_differences<nn::gelu>();
  compare_activation_with_differences<nn::gelu_tanh>();
}

// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ratio>

#include <devplace/nn/elu.hpp>

#include "support/activation_fixture.hpp"

namespace nn = devplace::nn;
using devplace::test::compare_activation_alone_with_differences;
using devplace::test::compare_activation_with_differences;
using devplace::test::compare_activation_with_pytorch;
using devplace::test::compare_option_with_pytorch;

TEST_CASE("elu agrees with PyTorch", "[nn]") {
  compare_activation_with_pytorch<nn::elu<>>("elu");
  compare_option_with_pytorch<nn::elu<std::ratio<3, 2>>>("elu_alpha");
}

TEST_CASE("elu's gradient agrees with differences", "[nn]") {
  compare_activation_with_differences<nn::elu<>>();
  compare_activation_alone_with_differences<nn::elu<std::ratio<3, 2>>>();
}

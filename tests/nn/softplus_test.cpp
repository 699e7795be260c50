// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ratio>

#include <devplace/nn/softplus.hpp>

#include "support/activation_fixture.hpp"

namespace nn = devplace::nn;
using devplace::test::compare_activation_alone_with_differences;
using devplace::test::compare_activation_with_differences;
using devplace::test::compare_activation_with_pytorch;
using devplace::test::compare_option_with_pytorch;

TEST_CASE("softplus agrees with PyTorch", "[nn]") {
  compare_activation_with_pytorch<nn::softplus<>>("softplus");
  compare_option_with_pytorch<nn::softplus<std::ratio<2>, std::ratio<3>>>("softplus_beta");
}

TEST_CASE("softplus's gradient agrees with differences", "[nn]") {
  compare_activation_with_differences<nn::softplus<>>();
  compare_activation_alone_with_differences<nn::softplus<std::ratio<2>, std::ratio<3>>>();
}

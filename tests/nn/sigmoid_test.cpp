// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/nn/sigmoid.hpp>

#include "support/activation_fixture.hpp"

namespace nn = devplace::nn;
using devplace::test::compare_activation_with_differences;
using devplace::test::compare_activation_with_pytorch;

TEST_CASE("sigmoid agrees with PyTorch", "[nn]") { compare_activation_with_pytorch<nn::sigmoid>("sigmoid"); }

TEST_CASE("sigmoid's gradient agrees with differences", "[nn]") { compare_activation_with_differences<nn::sigmoid>(); }

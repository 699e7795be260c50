// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "train/pytorch_networks.hpp"

namespace dp = devplace;

TEMPLATE_TEST_CASE("200 steps of networks with each activation follow PyTorch's losses", "[train]", float, double) {
  dp::test::follow_activations<dp::on<dp::cpu>, TestType>();
}

TEMPLATE_TEST_CASE("200 steps with each loss follow PyTorch's losses", "[train]", float, double) {
  dp::test::follow_losses<dp::on<dp::cpu>, TestType>();
}

TEMPLATE_TEST_CASE("200 steps with layer_norm and rms_norm follow PyTorch's losses", "[train]", float, double) {
  dp::test::follow_normalizations<dp::on<dp::cpu>, TestType>();
}

TEMPLATE_TEST_CASE("200 steps with attention, sigmoid and smoothed labels follow PyTorch's losses", "[train]", float,
                   double) {
  dp::test::follow_attention<dp::on<dp::cpu>, TestType>();
}

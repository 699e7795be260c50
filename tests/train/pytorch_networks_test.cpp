// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "train/pytorch_networks.hpp"

namespace dp = devplace;

// Only in float; pytorch_networks_simulated_test.cpp trains the same networks in double.

TEST_CASE("200 steps of networks with each activation follow PyTorch's losses", "[train]") {
  dp::test::follow_activations<dp::on<dp::cpu>, float>();
}

TEST_CASE("200 steps with each loss follow PyTorch's losses", "[train]") {
  dp::test::follow_losses<dp::on<dp::cpu>, float>();
}

TEST_CASE("200 steps with layer_norm and rms_norm follow PyTorch's losses", "[train]") {
  dp::test::follow_normalizations<dp::on<dp::cpu>, float>();
}

TEST_CASE("200 steps with attention, sigmoid and smoothed labels follow PyTorch's losses", "[train]") {
  dp::test::follow_attention<dp::on<dp::cpu>, float>();
}

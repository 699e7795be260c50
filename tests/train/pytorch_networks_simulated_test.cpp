// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "train/pytorch_networks.hpp"

namespace dp = devplace;

// In float: the loops are the CPU's, whose test runs in double, too.
TEST_CASE("200 steps of networks with each activation follow PyTorch's losses on a simulated device", "[train]") {
  dp::test::follow_activations<dp::on<dp::cuda<1>>, float>();
}

TEST_CASE("200 steps with each loss follow PyTorch's losses on a simulated device", "[train]") {
  dp::test::follow_losses<dp::on<dp::cuda<1>>, float>();
}

TEST_CASE("200 steps with layer_norm and rms_norm follow PyTorch's losses on a simulated device", "[train]") {
  dp::test::follow_normalizations<dp::on<dp::cuda<1>>, float>();
}

// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/optim/adam.hpp>
#include <devplace/optim/sgd.hpp>

#include "support/catch.hpp"
#include "train/pytorch_training.hpp"

namespace dp = devplace;

// pytorch_networks_simulated_test.cpp follows Adam in double.
TEST_CASE("200 steps with Adam follow PyTorch's losses in float", "[train]") {
  dp::test::follow_pytorch<dp::on<dp::cpu>, float>("adam", dp::test::reference_run_adam,
                                                   dp::optim::adam{.learning_rate = 1e-3}, 1e-10);
}

TEST_CASE("200 steps with SGD and momentum follow PyTorch's losses in double", "[train]") {
  dp::test::follow_pytorch<dp::on<dp::cpu>, double>("sgd", dp::test::reference_run_sgd,
                                                    dp::optim::sgd{.learning_rate = 0.1, .momentum = 0.9}, 1e-10);
}

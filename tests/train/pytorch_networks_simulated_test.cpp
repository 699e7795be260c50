// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/fully_sharded.hpp>
#include <devplace/optim/adam.hpp>

#include "parallel/nine_devices.hpp"
#include "train/pytorch_networks.hpp"
#include "train/pytorch_training.hpp"

namespace dp = devplace;

namespace {

// Batches of 16 and 64 are divided unevenly. Only in double, which reveals the smallest error of the division; the
// loops are the CPU's, whose tests also run in float.
using on_three = dp::replicated<2, 0, 1>;

}  // namespace

TEST_CASE("200 steps of networks with each activation follow PyTorch's losses on three places", "[train]") {
  dp::test::follow_activations<on_three, double>();
}

TEST_CASE("200 steps with each loss follow PyTorch's losses on three places", "[train]") {
  dp::test::follow_losses<on_three, double>();
}

TEST_CASE("200 steps with layer_norm and rms_norm follow PyTorch's losses on three places", "[train]") {
  dp::test::follow_normalizations<on_three, double>();
}

TEST_CASE("200 steps with attention, sigmoid and smoothed labels follow PyTorch's losses on three places", "[train]") {
  dp::test::follow_attention<on_three, double>();
}

TEST_CASE("200 steps with Adam on three places follow PyTorch's losses", "[train]") {
  dp::test::follow_pytorch<on_three, double>("adam", dp::test::reference_run_adam,
                                             dp::optim::adam{.learning_rate = 1e-3}, 1e-10);
}

TEST_CASE("200 steps with Adam in shares and on a mesh follow PyTorch's losses", "[train]") {
  const auto follow = []<class Where>(Where) {
    dp::test::follow_pytorch<Where, double>("adam", dp::test::reference_run_adam,
                                            dp::optim::adam{.learning_rate = 1e-3}, 1e-10);
  };
  follow(dp::spread<dp::mesh<dp::shares<9, 1>>, 8, 7, 6, 5, 4, 3, 2, 1, 0>{});
  follow(dp::spread<dp::mesh<dp::replicas<3>, dp::shares<3, 1>>, 0, 1, 2, 3, 4, 5, 6, 7, 8>{});
}

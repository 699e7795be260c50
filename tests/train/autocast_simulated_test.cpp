// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <devplace/optim/adam.hpp>
#include <devplace/optim/sgd.hpp>

#include "train/autocast.hpp"

namespace dp = devplace;

namespace {

using on_three = dp::replicated<2, 0, 1>;
using dp::test::batches_in_turn, dp::test::follow_autocast, dp::test::mixed_net;

}  // namespace

TEST_CASE("200 steps in mixed<bf16> on three places follow PyTorch's autocast", "[train]") {
  follow_autocast<mixed_net, on_three, dp::mixed<dp::bf16>>(
      batches_in_turn{}, "sgd/", dp::optim::sgd{.learning_rate = 0.01, .momentum = 0.5}, 0.02, false);
}

// The infinite features lie on the first place.
TEST_CASE("200 steps in mixed<half> on three places skip the steps that PyTorch's scaler skips", "[train]") {
  follow_autocast<mixed_net, on_three, dp::mixed<dp::half>>(batches_in_turn{}, "adam/",
                                                            dp::optim::adam{.learning_rate = 0.002}, 0.005, true);
}

// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compiled with warnings as errors: g++ -O3 suspects that a step on four places writes beyond the trainer, and that a
// summary copies overlapping text. Component compiled saves a quarter of the time.
#define DEVPLACE_WITH_COMPILED 1

#include <iostream>

#include <devplace/core.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/mse.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/parallel/scatter.hpp>
#include <devplace/train/summary.hpp>
#include <devplace/train/trainer.hpp>

namespace dp = devplace;
namespace nn = devplace::nn;

int main() {
  dp::model<nn::sequential<nn::input<4>, nn::linear<4, 4>>, dp::replicated<0, 1, 2, 3>> model{dp::seed{1}};
  dp::summary(std::cout, model);
  dp::trainer step{model, nn::mse{}, dp::optim::sgd{.learning_rate = 0.1}};
  using host = dp::on<dp::cpu>;
  const auto x = dp::zeros<float, host>(dp::extents<dp::dyn, 4>{8});
  const auto y = dp::zeros<float, host>(dp::extents<dp::dyn, 4>{8});
  using shards = dp::batch_placement_t<dp::replicated<0, 1, 2, 3>>;
  return step(dp::scatter<shards>(x), dp::scatter<shards>(y)).item() == 0 ? 0 : 1;
}

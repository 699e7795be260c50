// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "link/surrogate.hpp"

#include <devplace/all.hpp>

namespace dp = devplace;
namespace nn = dp::nn;

using net = nn::sequential<nn::linear<2, 32>, nn::tanh, nn::linear<32, 1>>;
using model_t = dp::model<net, dp::on<dp::cpu>>;

struct surrogate::parts {
  explicit parts(unsigned seed) : model{dp::seed{seed}} {}
  model_t model;
  dp::trainer<model_t, nn::mse, dp::optim::adam> step{model, nn::mse{}, dp::optim::adam{.learning_rate = 1e-2}};
};

surrogate::surrogate(unsigned seed) : parts_(std::make_unique<parts>(seed)) {}
surrogate::~surrogate() = default;  // here, where parts is complete

double surrogate::train(std::span<const float> inputs, std::span<const float> outputs) {
  const auto x = dp::wrap(inputs, dp::extents<dp::dyn, 2>{outputs.size()});  // views: nothing is copied
  const auto y = dp::wrap(outputs, dp::extents<dp::dyn, 1>{outputs.size()});
  return parts_->step(x, y).item();
}

void surrogate::predict(std::span<const float> inputs, std::span<float> outputs) {
  const auto x = dp::wrap(inputs, dp::extents<dp::dyn, 2>{outputs.size()});
  parts_->model.predict_into(dp::wrap(outputs, dp::extents<dp::dyn, 1>{outputs.size()}), x);
}

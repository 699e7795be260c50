// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compiled with warnings as errors: g++ -O2 suspects that the generic product of few rows reads vectors, or a bias
// that is added to products, before they are written.

#include <devplace/core.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/sequential.hpp>

namespace dp = devplace;
namespace nn = devplace::nn;

int main() {
  using halves = dp::tensor<dp::half, dp::extents<2, 16>, dp::on<dp::cpu>>;
  halves x, y;
  x = 1.0F;
  y = 1.0F;
  const auto products = dp::matmul(x, dp::transposed(y));
  const dp::model<nn::sequential<nn::input<40>, nn::linear<40, 30>>, dp::on<dp::cpu>, dp::mixed<dp::bf16>> with_bias{
      dp::seed{1}};
  const auto predictions = with_bias.predict(dp::zeros<float, dp::on<dp::cpu>>(dp::extents<dp::dyn, 40>{2}));
  return products(0, 0) == dp::half(16) && predictions.extent(0) == 2 ? 0 : 1;
}

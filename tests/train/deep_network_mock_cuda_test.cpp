// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/deep_network.hpp"

#include <algorithm>
#include <cstddef>

#include <devplace/nn/mse.hpp>
#include <devplace/ops/assign.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/train/memory_plan.hpp>
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"
#include "support/mock_cuda/mock_cublaslt.hpp"
#include "support/mock_cuda/mock_cuda.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
namespace mock = devplace::test::mock_cuda;

TEST_CASE("a trainer of 100 layers of distinct sizes compiles with nvcc and launches its products", "[train]") {
  using model_type = dp::model<dp::test::deep_network<100, 51>, dp::on<dp::cuda<0>>>;
  STATIC_REQUIRE(dp::memory_plan<model_type, dp::batch<4>, dp::optim::adam>::bytes < (std::size_t{4} << 20));
  model_type model{dp::seed{1}};
  dp::trainer step{model, nn::mse{}, dp::optim::adam{}};
  using inputs = dp::extents<4, dp::test::deep_width(0, 51)>;
  using outputs = dp::extents<4, dp::test::deep_width(50, 51)>;
  dp::tensor<float, inputs, dp::on<dp::cuda<0>>> x(inputs{});
  dp::tensor<float, outputs, dp::on<dp::cuda<0>>> y(outputs{});
  dp::fill(x, 0.5F);
  dp::fill(y, 0.5F);
  step.prepare(4);
  mock::clear_calls();
  step(x, y);
  const auto products = std::count_if(mock::launches().begin(), mock::launches().end(),
                                      [](const mock::launch& l) { return l.name.find("cublasLtMatmul") == 0; });
  CHECK(products == 50 + 50 + 49);  // forward, gradients of the weights, and of all inputs but the first
  CHECK(mock::violations().empty());
}

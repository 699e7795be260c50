// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ratio>
#include <string>
#include <utility>
#include <vector>

#include <devplace/attention.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/ops/assign.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"
#include "support/host_values.hpp"
#include "support/mock_cuda/mock_cuda.hpp"
#include "support/random_values.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
namespace mock = devplace::test::mock_cuda;

namespace {

using sequence_net = nn::sequential<nn::input<70>, nn::embedding<20, 40>, nn::positional_embedding<70, 40>,
                                    nn::multi_head_attention<40, 2, nn::causal>, nn::linear<40, 20>>;

/// Attention with heads of Width / 2 elements and dropout in training.
template <std::size_t Width>
using dropping_net =
    nn::sequential<nn::input<20>, nn::embedding<20, Width>, nn::positional_embedding<20, Width>,
                   nn::multi_head_attention<Width, 2, nn::attention_dropout<std::ratio<1, 4>>>, nn::linear<Width, 20>>;

/// Trains 5 steps in mixed precision; returns the losses and elements of the last prediction.
template <class Net, class P, class Where> std::vector<double> trained() {
  dp::model<Net, Where, P> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.5}};
  const auto x = devplace::test::random_values<std::int32_t>(dp::extents<dp::dyn, 20>{3}, 1, 0, 19);
  const auto y = devplace::test::random_values<std::int32_t>(dp::extents<dp::dyn, 20>{3}, 2, 0, 19);
  std::vector<double> found;
  for (int k = 0; k < 5; ++k) found.push_back(step(dp::to<Where>(x), dp::to<Where>(y)).item());
  for (const double p : support::values_of(model.predict(dp::to<Where>(x)))) found.push_back(p);
  return found;
}

std::size_t launches_of(const std::string& kernel) {
  return static_cast<std::size_t>(
      std::count_if(mock::launches().begin(), mock::launches().end(),
                    [&](const mock::launch& l) { return l.name.find(kernel) != std::string::npos; }));
}

/// Requires that steps on a GPU agree with those on the CPU, which computes attention in float.
template <class Net, class P> void require_equal_training(double tolerance) {
  mock::clear_calls();
  const auto found = trained<Net, P, dp::on<dp::cuda<0>>>(), expected = trained<Net, P, dp::on<dp::cpu>>();
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) REQUIRE(std::abs(found[i] - expected[i]) <= tolerance);
  CHECK(mock::violations().empty());
}

}  // namespace

TEST_CASE("a step of an embedding and attention calls CUDA for kernel launches only", "[train]") {
  using where = dp::on<dp::cuda<0>>;
  dp::model<sequence_net, where> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{}};
  const dp::extents<dp::dyn, 70> size{5};
  dp::tensor<std::int32_t, dp::extents<dp::dyn, 70>, where> samples(size);
  dp::tensor<std::uint8_t, dp::extents<dp::dyn, 70>, where> labels(size);
  dp::fill(samples, 1);
  dp::fill(labels, 2);
  step(samples, labels);
  mock::clear_calls();
  step(samples, labels);
  CHECK(mock::calls().size() == mock::launches().size());
  CHECK(mock::violations().empty());
  // 5 samples, 2 heads and 3 tiles of 32 positions; 8 rows of the table per block; one thread per head and position.
  const std::vector<std::pair<std::string, unsigned>> expected{{"row_taker", 0},
                                                               {"attention_results_kernel", 30},
                                                               {"cross_entropy_row", 0},
                                                               {"attention_products", 0},
                                                               {"attention_gradient_kernel", 30},
                                                               {"attention_gradient_kernel", 30},
                                                               {"embedding_gradient_kernel", 3}};
  auto at = mock::launches().begin();
  for (const auto& [name, blocks] : expected) {
    INFO(name);
    at = std::find_if(at, mock::launches().end(),
                      [&](const mock::launch& l) { return l.name.find(name) != std::string::npos; });
    REQUIRE(at != mock::launches().end());
    if (blocks != 0) CHECK(at->blocks == blocks);
    ++at;
  }
}

TEST_CASE("attention of 16-bit elements runs on tensor cores for heads of a multiple of 8 elements", "[train]") {
  require_equal_training<dropping_net<32>, dp::mixed<dp::bf16>>(0.05);
  CHECK(launches_of("attention_tiles_kernel") == 16);  // 5 steps with 3 kernels, and a prediction
  CHECK(launches_of("attention_results_kernel") == 0);
  require_equal_training<dropping_net<32>, dp::mixed<dp::half>>(0.006);
  CHECK(launches_of("attention_tiles_kernel") == 16);
  require_equal_training<dropping_net<20>, dp::mixed<dp::bf16>>(0.05);
  CHECK(launches_of("attention_tiles_kernel") == 0);
  CHECK(launches_of("attention_results_kernel") == 6);
}

// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <cstddef>
#include <cstdint>
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
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"
#include "support/mock_cuda/mock_cuda.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
namespace mock = devplace::test::mock_cuda;

namespace {

using sequence_net = nn::sequential<nn::input<70>, nn::embedding<20, 40>, nn::positional_embedding<70, 40>,
                                    nn::multi_head_attention<40, 2, nn::causal>, nn::linear<40, 20>>;

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
                                                               {"attention_queries_kernel", 30},
                                                               {"attention_keys_kernel", 30},
                                                               {"embedding_gradient_kernel", 3}};
  auto at = mock::launches().begin();
  for (const auto& [name, blocks] : expected) {
    INFO(name);
    at = std::find_if(at, mock::launches().end(),
                      [&](const mock::launch& l) { return l.name.find(name) != std::string::npos; });
    REQUIRE(at != mock::launches().end());
    if (blocks != 0) CHECK(at->blocks == blocks);
  }
}

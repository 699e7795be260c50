// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ratio>
#include <string>

#include <devplace/attention.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/ops/assign.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"
#include "support/mock_cuda/mock_cublaslt.hpp"
#include "support/mock_cuda/mock_cuda.hpp"
#include "support/mock_cudnn/mock_cudnn.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
namespace mock = devplace::test::mock_cuda;
namespace dnn = devplace::test::mock_cudnn;
namespace lt = devplace::test::mock_cublaslt;

namespace {

using attention_place = dp::on<dp::cuda<0>>;

template <class... Options>
using attention_net = nn::sequential<nn::input<6>, nn::embedding<20, 16>, nn::multi_head_attention<16, 2, Options...>,
                                     nn::linear<16, 20>>;

std::size_t launches_of(const std::string& kernel) {
  return static_cast<std::size_t>(
      std::count_if(mock::launches().begin(), mock::launches().end(),
                    [&](const mock::launch& l) { return l.name.find(kernel) != std::string::npos; }));
}

/// A step, after prepare, and a prediction.
template <class Net, class P> struct attention_steps {
  dp::model<Net, attention_place, P> model{dp::seed{1}};
  dp::trainer<dp::model<Net, attention_place, P>, nn::cross_entropy, dp::optim::sgd> step{model, nn::cross_entropy{},
                                                                                          dp::optim::sgd{}};
  dp::tensor<std::int32_t, dp::extents<dp::dyn, 6>, attention_place> samples{dp::extents<dp::dyn, 6>{3}};
  dp::tensor<std::uint8_t, dp::extents<dp::dyn, 6>, attention_place> labels{dp::extents<dp::dyn, 6>{3}};

  void train() {
    dp::fill(samples, 1);
    dp::fill(labels, 2);
    step(samples, labels);
  }
};

}  // namespace

TEST_CASE("attention in 16 bits runs in cuDNN, is planned by prepare, and copies nothing to float", "[train]") {
  attention_steps<attention_net<nn::causal>, dp::mixed<dp::bf16>> of;
  of.step.prepare(3);
  CHECK(std::count(dnn::calls().begin(), dnn::calls().end(), "cudnnBackendExecute") == 0);
  of.train();  // also rounds the parameters once
  mock::clear_calls();
  dnn::clear_calls();
  lt::clear_calls();
  of.train();
  CHECK(dnn::graphs().size() == 4);
  CHECK(dnn::calls().size() == 2);
  CHECK(launches_of("attention_") == 0);
  CHECK(launches_of("convert") == 2);  // the outputs for the loss, and its gradient
  CHECK(std::count(lt::calls().begin(), lt::calls().end(), "cublasLtMatmulAlgoGetHeuristic") == 0);
  CHECK(mock::violations().empty());
}

TEST_CASE("attention in float and in training with dropout uses devplace's kernels, and predictions use cuDNN",
          "[train]") {
  attention_steps<attention_net<nn::causal>, float> exact;
  exact.train();
  CHECK(launches_of("attention_") > 0);
  CHECK(dnn::graphs().empty());
  attention_steps<attention_net<nn::attention_dropout<std::ratio<1, 10>>>, dp::mixed<dp::half>> dropping;
  dropping.train();
  CHECK(dnn::graphs().empty());
  static_cast<void>(dropping.model.predict(dropping.samples));
  CHECK(dnn::graphs().size() == 1);
}

// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include <devplace/nn/conv2d.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/flatten.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
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

static_assert(dp::detail::configuration::convolution == dp::detail::convolution_library::cudnn);

namespace {

/// A layer that knows nothing of plans, and counts its passes.
struct counted {
  static inline int passes = 0;
  template <class In>
  using output = In;
  static void forward(const auto& c) {
    ++passes;
    c.output = 2 * c.input;
  }
  static void backward(const auto& c) {
    ++passes;
    c.input_gradient = 2 * c.output_gradient;
  }
};

using where = dp::on<dp::cuda<0>>;

using images_net =
    nn::sequential<nn::input<3, 8, 8>, nn::conv2d<3, 4, nn::kernel<3>, nn::padding<1>>, nn::relu, counted,
                   nn::conv2d<4, 6, nn::kernel<3>, nn::stride<2>>, nn::flatten, nn::linear<54, 5>>;

std::size_t cudnn_calls(const std::string& function) {
  return static_cast<std::size_t>(std::count(dnn::calls().begin(), dnn::calls().end(), function));
}

}  // namespace

TEST_CASE("prepare makes the plans of a step's convolutions and products, and the steps after it none", "[train]") {
  dnn::offer(CUDNN_HEUR_MODE_A, {{{}, 1000, true}});
  dp::model<images_net, where> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{}};
  const dp::extents<dp::dyn, 3, 8, 8> size{6};
  const dp::tensor<float, dp::extents<dp::dyn, 3, 8, 8>, where> images(size);
  const dp::tensor<std::int64_t, dp::extents<dp::dyn>, where> labels(dp::extents<dp::dyn>{6});
  mock::clear_calls();
  step.prepare(6);
  CHECK(cudnn_calls("cudnnCreate") == 1);
  CHECK(cudnn_calls("cudnnBackendGetAttribute") == 5 * 5);  // both outputs, gradients of weights, and one of an input
  CHECK(cudnn_calls("cudnnBackendExecute") == 0);
  CHECK(mock::launches().empty());
  CHECK(counted::passes == 0);

  mock::clear_calls();
  dnn::clear_calls();
  lt::clear_calls();
  step(images, labels);
  CHECK(counted::passes == 2);
  CHECK(cudnn_calls("cudnnBackendExecute") == 5);
  CHECK(cudnn_calls("cudnnBackendGetAttribute") == 0);      // no heuristic is asked
  CHECK(cudnn_calls("cudnnBackendCreateDescriptor") == 2);  // the images' address, for two convolutions
  CHECK(std::count(lt::calls().begin(), lt::calls().end(), "cublasLtMatmul") == 3);
  CHECK(std::count(lt::calls().begin(), lt::calls().end(), "cublasLtMatmulAlgoGetHeuristic") == 0);
  CHECK(mock::calls().size() == mock::launches().size());  // CUDA is asked for no memory
  CHECK(mock::violations().empty());

  dnn::clear_calls();
  step(images, labels);
  CHECK(dnn::calls().size() == 5);
}

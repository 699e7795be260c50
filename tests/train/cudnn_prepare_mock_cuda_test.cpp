// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>

#include <devplace/nn/conv2d.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/flatten.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/ops/assign.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/tensor/tensor.hpp>
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"
#include "support/mock_cuda/mock_cublaslt.hpp"
#include "support/mock_cuda/mock_cuda.hpp"
#include "support/mock_cudnn/mock_cudnn.hpp"
#include "support/replicas.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
namespace mock = devplace::test::mock_cuda;
namespace dnn = devplace::test::mock_cudnn;
namespace lt = devplace::test::mock_cublaslt;

static_assert(dp::detail::configuration::convolution == dp::detail::convolution_library::cudnn);

namespace {

/// A layer without a prepare member that counts its passes.
struct counted {
  static inline int passes = 0;
  template <class In> using output = In;
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

TEST_CASE("prepare makes all plans of a step's convolutions and products, and later steps make none", "[train]") {
  dnn::offer(CUDNN_HEUR_MODE_A, {{{}, 1000, true}});
  dp::model<images_net, where> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{}};
  const dp::extents<dp::dyn, 3, 8, 8> size{6};
  dp::tensor<float, dp::extents<dp::dyn, 3, 8, 8>, where> images(size);
  dp::tensor<std::int64_t, dp::extents<dp::dyn>, where> labels(dp::extents<dp::dyn>{6});
  dp::fill(images, 0.5F);
  dp::fill(labels, 1);
  mock::clear_calls();
  step.prepare(6);
  CHECK(cudnn_calls("cudnnCreate") == 1);
  CHECK(cudnn_calls("cudnnBackendGetAttribute") == 5 * 5);  // 2 outputs, 2 weight gradients, 1 input gradient
  CHECK(cudnn_calls("cudnnBackendExecute") == 0);
  CHECK(mock::launches().empty());
  CHECK(counted::passes == 0);

  mock::clear_calls();
  dnn::clear_calls();
  lt::clear_calls();
  step(images, labels);
  CHECK(counted::passes == 2);
  CHECK(cudnn_calls("cudnnBackendExecute") == 5);
  CHECK(cudnn_calls("cudnnBackendGetAttribute") == 0);      // no heuristic is queried
  CHECK(cudnn_calls("cudnnBackendCreateDescriptor") == 2);  // the images' address, for two convolutions
  CHECK(std::count(lt::calls().begin(), lt::calls().end(), "cublasLtMatmul") == 3);
  CHECK(std::count(lt::calls().begin(), lt::calls().end(), "cublasLtMatmulAlgoGetHeuristic") == 0);
  CHECK(mock::calls().size() == mock::launches().size());  // no allocation
  CHECK(mock::violations().empty());

  dnn::clear_calls();
  step(images, labels);
  CHECK(dnn::calls().size() == 5);
}

TEST_CASE("calls of cuDNN are part of a step's graph, which is not launched after a plan was made again", "[train]") {
  dp::model<images_net, where> model{dp::seed{1}}, other{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{}}, single{other, nn::cross_entropy{}, dp::optim::sgd{}};
  single.launch_as_graphs(false);
  dp::tensor<float, dp::extents<dp::dyn, 3, 8, 8>, where> images(dp::extents<dp::dyn, 3, 8, 8>{6});
  dp::tensor<std::int64_t, dp::extents<dp::dyn>, where> labels(dp::extents<dp::dyn>{6});
  dp::fill(labels, 1);
  std::size_t launches = 0;
  for (int i = 0; i != 8; ++i) {
    INFO("step " << i);
    if (i == 4) std::get<0>(dp::detail::cudnn_cache_of(0).plans).clear();  // the graph launches these plans' kernels
    dp::fill(images, 0.25F * static_cast<float>(i));
    step(images, labels);
    single(images, labels);
    CHECK(dp::test::parameters_of(model) == dp::test::parameters_of(other));
    const dp::step_launches how = step.last_launches();
    if (i == 4) continue;  // the launches between calls of cuDNN repeat those of step 0
    const bool in_graph = i == 2 || i == 3 || i > 5;
    if (i == 2) launches = how.in_graphs;
    CHECK(how.graphs == (in_graph ? 1 : 0));
    CHECK(how.in_graphs == (in_graph ? launches : 0));
    if (in_graph) CHECK(how.single == 0);
  }
  CHECK(mock::violations().empty());
}

TEST_CASE("convolutions in 16 bits run in cuDNN, or as matrix products where cuDNN has no engine", "[train]") {
  using dp::backend::cuda;
  const auto offered = GENERATE(true, false);
  if (!offered) dnn::offer(CUDNN_HEUR_MODE_A, {});
  using images = dp::tensor<dp::bf16, dp::extents<2, 3, 8, 8>, where>;
  const images x, y;
  const dp::tensor<dp::bf16, dp::extents<3, 3, 3, 3>, where> weight;
  const dp::tensor<float, dp::extents<3, 3, 3, 3>, where> dweight;
  const dp::detail::window_axis axis{8, 8, 3, 1, 1, 1};
  const dp::detail::convolution_shape shape{2, 1, 3, 3, axis, axis};
  auto *const x_data = const_cast<dp::bf16*>(x.data().get()), *const y_data = const_cast<dp::bf16*>(y.data().get());
  auto* const dw = const_cast<float*>(dweight.data().get());
  const dp::bf16* const w = weight.data().get();
  dp::detail::cudnn_cache_of(0) = {};  // forces a new choice
  mock::clear_calls();
  dnn::clear_calls();
  lt::clear_calls();
  dp::detail::dispatch<dp::op::convolution, cuda>(
      0, dp::detail::convolution_arguments<dp::bf16>{shape, x_data, w, nullptr, y_data});
  dp::detail::dispatch<dp::op::convolution_input_gradient, cuda>(
      0, dp::detail::convolution_input_gradient_arguments<dp::bf16>{shape, y_data, w, nullptr, x_data});
  dp::detail::dispatch<dp::op::convolution_weight_gradient, cuda>(
      0, dp::detail::convolution_weight_gradient_arguments<dp::bf16>{shape, y_data, x_data, dw, 1, nullptr});
  CHECK(cudnn_calls("cudnnBackendExecute") == (offered ? 3 : 0));
  CHECK(std::count(lt::calls().begin(), lt::calls().end(), "cublasLtMatmul") == (offered ? 0 : 3));
  CHECK(mock::launches().size() == (offered ? 3 + 1 : 3 + 2 + 2 + 2));  // the weight gradient is accumulated in float
  CHECK(mock::violations().empty());
}

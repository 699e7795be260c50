// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Steps of networks on images: every step makes the same launches, and no other calls of CUDA.

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <devplace/convolution.hpp>
#include <devplace/nn/bce_with_logits.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/residual.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/smooth_l1.hpp>
#include <devplace/nn/sum_of.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"
#include "support/mock_cuda/mock_cublaslt.hpp"
#include "support/mock_cuda/mock_cuda.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
namespace mock = devplace::test::mock_cuda;
namespace lt = devplace::test::mock_cublaslt;

namespace {

using names = std::vector<std::string>;
using one = dp::on<dp::cuda<0>>;
using two = dp::replicated<0, 1>;
using three_by_three = nn::conv2d<8, 8, nn::kernel<3>, nn::padding<1>>;
using images_net =
    nn::sequential<nn::input<3, 12, 12>, nn::conv2d<3, 8, nn::kernel<3>, nn::padding<1>>, nn::batch_norm<8>, nn::relu,
                   nn::max_pool2d<nn::kernel<2>>, nn::residual<three_by_three, nn::batch_norm<8>, nn::relu>,
                   nn::sum_of<three_by_three, nn::conv2d<8, 8, nn::kernel<1>>>, nn::global_average_pool,
                   nn::linear<8, 4>>;

std::size_t calls_of(const std::string& function) {
  return static_cast<std::size_t>(std::count_if(mock::calls().begin(), mock::calls().end(),
                                                [&](const std::string& c) { return c.find(function) == 0; }));
}

/// The launches of a step after the first. Requires that each of four steps launches the same kernels with the same
/// number of blocks on every device, and makes only `ordering` other calls, which order streams, and `copies` between
/// devices: no allocation, wait or copy to the host.
template <class Step, class X, class Y>
names launched_by_each(Step& step, const X& x, const Y& y, std::size_t ordering = 0, std::size_t copies = 0) {
  step(x, y);
  names first;
  for (int i = 0; i < 4; ++i) {
    mock::clear_calls();
    lt::clear_calls();
    step(x, y);
    INFO("step " << i);
    REQUIRE(calls_of("cudaEventRecord ") + calls_of("cudaStreamWaitEvent ") == ordering);
    REQUIRE(calls_of("cudaMemcpyPeerAsync ") == copies);
    REQUIRE(mock::calls().size() == mock::launching_calls() + ordering + copies);
    REQUIRE(lt::calls() == names(lt::calls().size(), "cublasLtMatmul"));
    REQUIRE(mock::violations().empty());
    names now;
    for (const mock::launch& l : mock::launches())
      now.push_back(std::to_string(l.device) + ": " + l.name + ", blocks: " + std::to_string(l.blocks));
    if (i == 0) first = now;
    REQUIRE(now == first);
  }
  return first;
}

std::size_t count_of(const names& launched, const std::string& part) {
  return static_cast<std::size_t>(std::count_if(
      launched.begin(), launched.end(), [&](const std::string& name) { return name.find(part) != std::string::npos; }));
}

/// Four convolutions and a linear layer: forward, gradients of weights, and gradients of all inputs but the first.
void check_work_of_images(const names& launched) {
  CHECK(count_of(launched, "cublasLtMatmul") == 5 + 5 + 4);
  CHECK(count_of(launched, "unfold") >= 4);
  CHECK(count_of(launched, "channel_source<moment_terms") == 2);
  CHECK(count_of(launched, "max_pool") == 2);
}

}  // namespace

TEST_CASE("every step of a network on images makes the same launches, without cuDNN", "[train]") {
  dp::model<images_net, one> model{dp::seed{1}};
  dp::trainer step{model, nn::smooth_l1{}, dp::optim::sgd{.momentum = 0.9}};
  const dp::tensor<float, dp::extents<dp::dyn, 3, 12, 12>, one> x(dp::extents<dp::dyn, 3, 12, 12>{5});
  const dp::tensor<float, dp::extents<dp::dyn, 4>, one> y(dp::extents<dp::dyn, 4>{5});
  const names launched = launched_by_each(step, x, y);
  check_work_of_images(launched);
  CHECK(count_of(launched, "sgd_formula") == 1);
}

TEST_CASE("a step of a network on images in mixed<half> reads nothing back", "[train]") {
  dp::model<images_net, one, dp::mixed<dp::half>> model{dp::seed{1}};
  dp::trainer step{model, nn::bce_with_logits{}, dp::optim::adam{}};
  const dp::tensor<float, dp::extents<dp::dyn, 3, 12, 12>, one> x(dp::extents<dp::dyn, 3, 12, 12>{5});
  const dp::tensor<float, dp::extents<dp::dyn, 4>, one> y(dp::extents<dp::dyn, 4>{5});
  const names launched = launched_by_each(step, x, y);
  check_work_of_images(launched);
  CHECK(count_of(launched, "adam_formula") == 1);
}

TEST_CASE("batch_norm over two devices adds sums in both passes, ordered by events", "[train]") {
  using net = nn::sequential<nn::linear<6, 8>, nn::batch_norm<8, nn::over_all_places>, nn::linear<8, 4>>;
  dp::model<net, two> model{dp::seed{1}};
  dp::trainer step{model, nn::smooth_l1{}, dp::optim::sgd{}};
  step.launch_as_graphs(false);  // whose launches wait for each other without calls; see graphs_mock_cuda_test.cpp
  using batch = dp::batch_placement_t<two>;
  const dp::tensor<float, dp::extents<dp::dyn, 6>, batch> x(dp::extents<dp::dyn, 6>{10});
  const dp::tensor<float, dp::extents<dp::dyn, 4>, batch> y(dp::extents<dp::dyn, 4>{10});
  // Two reductions in each pass, of ranges and of sums, and one of gradients. In each, both devices record two events
  // and wait for two. Then the first device's running statistics are copied to the second.
  const names launched = launched_by_each(step, x, y, 5 * 8 + 6, 1);
  CHECK(count_of(launched, "reduce_in_rank_order<long") == 4);
  CHECK(count_of(launched, "reduce_in_rank_order<float") == 2);
  for (const char* each : {"exact_moment_terms", "exact_statistics", "exact_gradient_terms", "sgd_formula"}) {
    INFO(each);
    CHECK(count_of(launched, each) >= 2);
  }
}

// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The step of a model whose images are split along their rows is one CUDA graph, which contains the exchanges of rows,
// with the bits of steps without graphs.

#include <cstddef>

#include <devplace/in_parts.hpp>
#include <devplace/nn.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/parallel/to_batch.hpp>
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"
#include "support/mock_cuda/mock_cuda.hpp"
#include "support/replicas.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
namespace mock = devplace::test::mock_cuda;
using dp::test::parameters_of;

namespace {

using in_rows = dp::in_parts<dp::axis<2>, 0, 1>;
using sample = dp::extents<2, 8, 4>;
using three = nn::conv2d<4, 4, nn::kernel<3>, nn::padding<1>>;
using net =
    nn::sequential<nn::input<2, 8, 4>, nn::conv2d<2, 4, nn::kernel<3>, nn::padding<1>>, nn::batch_norm<4>, nn::relu,
                   nn::dropout<>, nn::max_pool2d<nn::kernel<3>, nn::stride<1>, nn::padding<1>>,
                   nn::recomputed<three, nn::group_norm<2, 4>, nn::silu>,
                   nn::avg_pool2d<nn::kernel<3>, nn::stride<1>, nn::padding<1>>, nn::conv2d<4, 2, nn::kernel<1>>>;

auto images(std::size_t seed) {
  dp::tensor<float, dp::extents<dp::dyn, 2, 8, 4>, dp::on<dp::cpu>> x(dp::extents<dp::dyn, 2, 8, 4>{6});
  for (std::size_t i = 0; i != x.size(); ++i) x.data()[i] = static_cast<float>(i * (i * 7 + seed) % 7) - 3;
  return x;
}
template <class Where> auto placed(std::size_t seed) { return dp::to_batch<Where>(images(seed)); }

template <class P, class Policy> void check_one_graph() {
  using model_type = dp::model<net, in_rows, P>;
  model_type model{dp::seed{4}}, other{dp::seed{4}};
  dp::trainer step{model, nn::mse{}, dp::optim::adam{}, Policy{}};
  dp::trainer single{other, nn::mse{}, dp::optim::adam{}, Policy{}};
  single.launch_as_graphs(false);
  const auto x0 = placed<in_rows>(1), x1 = placed<in_rows>(3), y = placed<in_rows>(2);
  for (int i = 0; i != 10; ++i) {
    INFO("step " << i);
    step(i % 2 == 0 ? x0 : x1, y);
    single(i % 2 == 0 ? x0 : x1, y);
    CHECK(single.last_launches().graphs == 0);
    for (std::size_t k = 0; k != 2; ++k) CHECK(parameters_of(model, k) == parameters_of(other, k));
    if (i < 6) continue;
    CHECK(step.last_launches().graphs == 1);
    CHECK(step.last_launches().in_graphs > 20);
    CHECK(step.last_launches().single == 0);
    CHECK(step.last_launches().interrupted_after == nullptr);
  }
  CHECK(step.mean_loss() == single.mean_loss());
  mock::clear_calls();
  step(x0, y);
  std::size_t graphs = 0;
  for (const auto& call : mock::calls()) {
    INFO(call);
    graphs += call.starts_with("cudaGraphLaunch") ? 1 : 0;
    for (const char* const other_work : {"cudaLaunchKernel", "cublasLtMatmul", "cudaMemcpy", "cudaMalloc",
                                         "cudaEventSynchronize", "cudaStreamSynchronize"})
      CHECK(!call.starts_with(other_work));
  }
  CHECK(graphs == 1);
  CHECK(mock::violations().empty());
}

}  // namespace

TEST_CASE("the step of a model in parts is one graph, with the exchanges of rows", "[train]") {
  using namespace dp::collective;
  SECTION("direct") { check_one_graph<float, all_reduce<>>(); }
  SECTION("ring") { check_one_graph<float, ring_all_reduce>(); }
  SECTION("bf16") { check_one_graph<dp::mixed<dp::bf16>, all_reduce<>>(); }
  SECTION("devices without access to each other") {
    mock::separate_devices();
    check_one_graph<float, all_reduce<>>();
  }
}

TEST_CASE("a model in parts trains on two devices as on the CPU", "[train]") {
  dp::model<net, in_rows, double> model{dp::seed{4}};
  dp::model<net, dp::cpu, double> one{dp::seed{4}};
  dp::trainer step{model, nn::mse{}, dp::optim::adam{}};
  dp::trainer on_cpu{one, nn::mse{}, dp::optim::adam{}};
  const auto widened = [](const auto& x) { return dp::evaluated(dp::cast<double>(x)); };
  for (std::size_t i = 0; i != 8; ++i) {
    const auto x = widened(images(i)), y = widened(images(i + 1));
    step(dp::to_batch<in_rows>(x), dp::to_batch<in_rows>(y));
    on_cpu(x, y);
  }
  const auto expected = parameters_of(one);
  for (std::size_t k = 0; k != 2; ++k) {
    const auto found = parameters_of(model, k);
    for (std::size_t i = 0; i != expected.size(); ++i) CHECK(found[i] == Catch::Approx(expected[i]).margin(1e-9));
  }
  const auto x = widened(images(9));
  const auto y = one.predict(x), same = dp::to_host(model.predict(dp::to_batch<in_rows>(x)));
  for (std::size_t i = 0; i != y.size(); ++i) CHECK(same.data()[i] == Catch::Approx(y.data()[i]).margin(1e-9));
  CHECK(mock::violations().empty());
}

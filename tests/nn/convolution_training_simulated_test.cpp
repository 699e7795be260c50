// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A network of convolutions and poolings trains as in PyTorch, step by step, on each kind of place.

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include <devplace/nn/avg_pool2d.hpp>
#include <devplace/nn/conv2d.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/global_average_pool.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/max_pool2d.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/tanh.hpp>
#include <devplace/nn/to.hpp>
#include <devplace/nn/upsample.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/parallel/to_batch.hpp>
#include <devplace/train/trainer.hpp>

#include "support/layer_fixture.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

namespace {

using net = nn::sequential<nn::input<1, 10, 10>, nn::conv2d<1, 4, nn::kernel<3>, nn::padding<1>>, nn::relu,
                           nn::max_pool2d<nn::kernel<2>>,
                           nn::conv2d<4, 6, nn::kernel<3>, nn::padding<2>, nn::dilation<2>, nn::groups<2>>, nn::tanh,
                           nn::avg_pool2d<nn::kernel<3>, nn::stride<2>, nn::padding<1>>,
                           nn::conv2d<6, 8, nn::kernel<2>, nn::stride<2>, nn::no_bias>, nn::upsample<2>,
                           nn::global_average_pool, nn::linear<8, 3>>;

template <class Where, class T>
void train_as_pytorch(double tolerance) {
  constexpr std::size_t steps = 200, batch = 8;
  const std::string folder = std::string("convolutions/training/") + (std::is_same_v<T, float> ? "f32/" : "f64/");
  const auto images = dp::read_npy<T, dp::extents<dp::dyn, 1, 10, 10>>(dp::test::reference_path(folder + "images.npy"));
  const auto labels =
      dp::read_npy<std::int64_t, dp::extents<dp::dyn>>(dp::test::reference_path("convolutions/training/labels.npy"));
  const auto losses = dp::read_npy<T, dp::extents<dp::dyn>>(dp::test::reference_path(folder + "losses.npy"));
  REQUIRE(losses.size() == steps);

  dp::model<net, dp::on<dp::cpu>, T> start{dp::seed{1}};
  std::size_t index = 0;
  const auto read = [&](const char* kind, auto parameter) {
    using extents_type = typename decltype(parameter)::extents_type;
    return dp::read_npy<T, extents_type>(dp::test::reference_path(folder + kind + std::to_string(index++) + ".npy"));
  };
  start.for_each_parameter([&](const std::string&, auto parameter) { dp::copy(parameter, read("start", parameter)); });
  auto model = dp::to<Where>(start);
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.05, .momentum = 0.9}};
  for (std::size_t i = 0; i < steps; ++i) {
    const std::size_t first = i % 4 * batch;
    const auto loss = step(dp::to_batch<Where>(images.slice(first, first + batch)),
                           dp::to_batch<Where>(labels.slice(first, first + batch)));
    INFO("step " << i);
    REQUIRE(static_cast<double>(loss.item()) ==
            Catch::Approx(static_cast<double>(losses(i))).epsilon(tolerance).margin(tolerance));
  }
  index = 0;
  const auto after = dp::to<dp::on<dp::cpu>>(model);
  after.for_each_parameter([&](const std::string&, auto found) {
    const auto expected = read("end", found);
    for (std::size_t i = 0; i < expected.size(); ++i)
      REQUIRE(static_cast<double>(found.data()[i]) ==
              Catch::Approx(static_cast<double>(expected.data()[i])).margin(10 * tolerance));
  });
  CHECK(index == 7);
}

}  // namespace

TEST_CASE("200 steps of a network of convolutions agree with PyTorch", "[nn]") {
  train_as_pytorch<dp::on<dp::cpu>, float>(1e-4);
  train_as_pytorch<dp::on<dp::cpu>, double>(1e-9);
  train_as_pytorch<dp::on<dp::cuda<0>>, double>(1e-9);
  train_as_pytorch<dp::replicated<0, 1, 2>, double>(1e-9);
}

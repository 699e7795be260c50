// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A network with batch_norm and group_norm follows PyTorch step by step on each kind of place.

#include <cstddef>
#include <cstdint>
#include <ratio>
#include <string>
#include <type_traits>

#include <devplace/nn/batch_norm.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/flatten.hpp>
#include <devplace/nn/group_norm.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/tanh.hpp>
#include <devplace/nn/to.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/parallel/to_batch.hpp>
#include <devplace/train/trainer.hpp>

#include "support/layer_fixture.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

namespace {

template <class Samples>
using normalized_net =
    nn::sequential<nn::input<4, 4>, nn::batch_norm<4, Samples>, nn::group_norm<2, 4>, nn::flatten, nn::linear<16, 8>,
                   nn::batch_norm<8, Samples, std::ratio<1, 20>>, nn::tanh, nn::linear<8, 3>>;

template <class Net, class Where, class T> void train_normalized_as_pytorch(double tolerance) {
  constexpr std::size_t steps = 200, batch = 8;
  const std::string folder = std::string("normalizations/training/") + (std::is_same_v<T, float> ? "f32/" : "f64/");
  const auto x = dp::test::read_fixture<T, dp::extents<dp::dyn, 4, 4>>(folder + "x");
  const auto labels = dp::test::read_fixture<std::int64_t, dp::extents<dp::dyn>>("normalizations/training/labels");
  const auto losses = dp::test::read_fixture<T, dp::extents<dp::dyn>>(folder + "losses");
  REQUIRE(losses.size() == steps);

  dp::model<Net, dp::on<dp::cpu>, T> start{dp::seed{1}};
  std::size_t index = 0;
  const auto file = [&](const char* kind) { return folder + kind + std::to_string(index++); };
  start.for_each_parameter([&](const std::string&, auto parameter) {
    dp::copy(parameter, dp::test::read_fixture<T, typename decltype(parameter)::extents_type>(file("start")));
  });
  auto model = dp::to<Where>(start);
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.02, .momentum = 0.9}};
  for (std::size_t i = 0; i < steps; ++i) {
    const std::size_t first = i % 4 * batch;
    const auto loss = step(dp::to_batch<Where>(x.slice(first, first + batch)),
                           dp::to_batch<Where>(labels.slice(first, first + batch)));
    INFO("step " << i);
    REQUIRE(static_cast<double>(loss.item()) ==
            Catch::Approx(static_cast<double>(losses(i))).epsilon(tolerance).margin(tolerance));
  }
  const auto agree = [&](const T* found, const auto& expected) {
    for (std::size_t i = 0; i < expected.size(); ++i)
      REQUIRE(static_cast<double>(found[i]) ==
              Catch::Approx(static_cast<double>(expected.data()[i])).epsilon(tolerance).margin(10 * tolerance));
  };
  // The running statistics move with the model, and predictions use them.
  const auto after = dp::to<dp::on<dp::cpu>>(model);
  index = 0;
  after.for_each_parameter([&](const std::string&, auto found) {
    agree(found.data(), dp::test::read_fixture<T, typename decltype(found)::extents_type>(file("end")));
  });
  CHECK(index == 10);
  index = 0;
  dp::runtime::network_plan<Net>::visit_buffers([&](const std::string&, const auto&, std::size_t offset) {
    agree(after.state().replicas[0].buffer_data() + offset,
          dp::test::read_fixture<T, dp::extents<dp::dyn>>(file("buffer")));
  });
  CHECK(index == 4);
  const auto expected = dp::test::read_fixture<T, dp::extents<dp::dyn, 3>>(folder + "predicted");
  agree(after.predict(x).data(), expected);
}

}  // namespace

TEST_CASE("200 steps of a network with batch_norm and group_norm agree with PyTorch", "[nn]") {
  using net = normalized_net<nn::of_each_place>;
  train_normalized_as_pytorch<net, dp::on<dp::cpu>, float>(1e-5);
  train_normalized_as_pytorch<net, dp::on<dp::cuda<0>>, double>(1e-10);
}

TEST_CASE("batch_norm over all places trains on several places like PyTorch on one", "[nn]") {
  using net = normalized_net<nn::over_all_places>;
  train_normalized_as_pytorch<net, dp::replicated<2, 0, 1>, double>(1e-10);
}

// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Branches, frozen parts, parameter groups, batch_norm over all places, and mixed precision with its scaler train on
// GPUs as on the CPU.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <ratio>
#include <string>
#include <vector>

#include <devplace/convolution.hpp>
#include <devplace/nn/concat_of.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/flatten.hpp>
#include <devplace/nn/frozen.hpp>
#include <devplace/nn/identity.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/layer_norm.hpp>
#include <devplace/nn/learning_rate_times.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/named.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/sum_of.hpp>
#include <devplace/nn/tanh.hpp>
#include <devplace/optim/adamw.hpp>
#include <devplace/optim/decay_of_matrices.hpp>
#include <devplace/parallel/to_batch.hpp>
#include <devplace/train/trainer.hpp>

#include "parallel/two_logical_devices.hpp"
#include "support/catch.hpp"
#include "support/cuda_device.hpp"
#include "support/host_values.hpp"
#include "support/random_values.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

namespace {

using here = dp::on<dp::cpu>;
using series_net =
    nn::sequential<nn::input<2, 20>, nn::conv1d<2, 8, nn::kernel<5>, nn::padding<2>>,
                   nn::batch_norm<8, nn::over_all_places>, nn::relu, nn::flatten,
                   nn::named<"fixed", nn::frozen<nn::linear<160, 16>>>, nn::tanh,
                   nn::named<"slow", nn::learning_rate_times<std::ratio<1, 10>, nn::linear<16, 16>>>,
                   nn::concat_of<nn::identity, nn::sum_of<nn::tanh, nn::linear<16, 16>>>, nn::linear<32, 3>>;
using images_net =
    nn::sequential<nn::input<2, 9, 9>, nn::conv2d<2, 8, nn::kernel<3>, nn::padding<1>>, nn::batch_norm<8>, nn::relu,
                   nn::max_pool2d<nn::kernel<3>, nn::stride<2>>, nn::conv2d<8, 8, nn::kernel<3>>, nn::group_norm<2, 8>,
                   nn::relu, nn::avg_pool2d<nn::kernel<2>>, nn::flatten, nn::layer_norm<8>, nn::linear<8, 3>>;

struct history {
  std::vector<double> losses, scales;
  std::vector<float> fixed_before, fixed_after;  ///< the parameters of the layer named "fixed"
};

template <class Model> std::vector<float> fixed_parameters(const Model& model) {
  std::vector<float> all;
  model.for_each_parameter([&](const std::string& name, auto view) {
    if (name.find("fixed") != 0) return;
    const auto values = support::values_of(view);
    all.insert(all.end(), values.begin(), values.end());
  });
  return all;
}

/// The losses of 19 steps on one batch of 23 samples. With loss scaling there are 20 steps; the sixth is not finite.
template <class Net, class Where, class P, std::size_t... Sample> history train() {
  dp::model<Net, Where, P> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{},
                   dp::optim::decay_of_matrices{dp::optim::adamw{.learning_rate = 0.01, .weight_decay = 0.1}}};
  if constexpr (dp::scales_losses<P>) step.scale_losses({.initial_scale = 1024, .growth_interval = 4});
  const auto x = dp::test::random_values<float>(dp::extents<dp::dyn, Sample...>{23}, 1);
  auto bad = x.clone();
  bad.data()[x.size() - 1] = std::numeric_limits<float>::infinity();
  dp::tensor<std::int64_t, dp::extents<dp::dyn>, here> y(dp::extents<dp::dyn>{23});
  for (std::size_t i = 0; i < 23; ++i) y(i) = static_cast<std::int64_t>(i * i % 3);
  history result;
  result.fixed_before = fixed_parameters(model);
  for (int i = 0; i < (dp::scales_losses<P> ? 20 : 19); ++i) {
    const bool is_bad = dp::scales_losses<P> && i == 5;
    const auto loss = step(dp::to_batch<Where>(is_bad ? bad : x), dp::to_batch<Where>(y));
    if (!is_bad) result.losses.push_back(static_cast<double>(loss.item()));
    if constexpr (dp::scales_losses<P>) result.scales.push_back(step.scaler().scale);
  }
  if constexpr (dp::scales_losses<P>) CHECK(step.scaler().skipped_steps == 1);
  result.fixed_after = fixed_parameters(model);
  return result;
}

void require_close(const history& found, const history& expected, double tolerance) {
  REQUIRE(found.losses.size() == expected.losses.size());
  for (std::size_t i = 0; i < found.losses.size(); ++i) {
    INFO("step " << i);
    CHECK(found.losses[i] == Catch::Approx(expected.losses[i]).epsilon(tolerance));
  }
  CHECK(found.losses.back() < 0.7 * found.losses.front());
  CHECK(found.fixed_after == found.fixed_before);
}

}  // namespace

TEST_CASE("branches, frozen parts, batch_norm over two places and scaled losses on a GPU train like on the CPU",
          "[train]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  using places = dp::replicated<0, 1>;
  const history expected = train<series_net, here, float, 2, 20>();
  require_close(train<series_net, places, float, 2, 20>(), expected, 1e-3);
  const history scaled = train<series_net, places, dp::mixed<dp::half>, 2, 20>();
  require_close(scaled, expected, 0.02);
  // The scale doubles after every four steps, and the sixth step halves it.
  CHECK(scaled.scales == std::vector<double>{1024, 1024, 1024, 2048, 2048, 1024, 1024, 1024, 1024, 2048,
                                             2048, 2048, 2048, 4096, 4096, 4096, 4096, 8192, 8192, 8192});
}

TEST_CASE("normalisations and poolings in mixed<bf16> train on a GPU as on the CPU", "[train]") {
  DEVPLACE_NEEDS_CUDA_DEVICE();
  using precision = dp::mixed<dp::bf16>;
  require_close(train<images_net, dp::on<dp::cuda<0>>, precision, 2, 9, 9>(),
                train<images_net, here, precision, 2, 9, 9>(), 0.05);
}

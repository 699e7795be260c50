// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ratio>
#include <string>
#include <utility>
#include <vector>

#include <devplace/nn/bce_with_logits.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/elu.hpp>
#include <devplace/nn/flatten.hpp>
#include <devplace/nn/gelu.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/kl_div.hpp>
#include <devplace/nn/l1.hpp>
#include <devplace/nn/layer_norm.hpp>
#include <devplace/nn/leaky_relu.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/log_softmax.hpp>
#include <devplace/nn/mse.hpp>
#include <devplace/nn/multi_head_attention.hpp>
#include <devplace/nn/nll.hpp>
#include <devplace/nn/residual.hpp>
#include <devplace/nn/rms_norm.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/sigmoid.hpp>
#include <devplace/nn/silu.hpp>
#include <devplace/nn/smooth_l1.hpp>
#include <devplace/nn/softplus.hpp>
#include <devplace/nn/tanh.hpp>
#include <devplace/nn/to.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/parallel/to_batch.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/train/trainer.hpp>

#include "support/catch.hpp"
#include "support/fixture.hpp"
#include "support/host_values.hpp"
#include "support/reference.hpp"
#include "support/sanitizers.hpp"

// The trainings of tests/reference/networks: 200 steps of small networks with 16 inputs.
namespace devplace::test {

/// The numbers of one run, bit for bit as in tests/reference/generator.py.
struct small_training {
  static constexpr std::size_t steps = 200, batch = 16, inputs = 16, outputs = 4;

  std::uint64_t run;

  /// Input `index` of a sample, in [-2, 2).
  float feature(std::size_t sample, std::size_t index) const {
    return (reference_uniform(reference_seed(run, reference_stream::prototype), sample * inputs + index) - 0.5F) * 4;
  }
  /// Element `index` of parameter `which`.
  float parameter(std::size_t which, std::size_t index) const {
    const auto first = static_cast<std::size_t>(reference_stream::weight0);
    return (reference_uniform(reference_seed(run, static_cast<reference_stream>(first + which)), index) - 0.5F) * 0.5F;
  }
};

/// Targets of a regression: products of features.
inline float product_of_features(const small_training& data, std::size_t sample, std::size_t output) {
  return data.feature(sample, output) * data.feature(sample, output + small_training::outputs);
}

inline float is_larger(const small_training& data, std::size_t sample, std::size_t output) {
  return data.feature(sample, output) > data.feature(sample, output + small_training::outputs) ? 1 : 0;
}

inline float probability(const small_training& data, std::size_t sample, std::size_t output) {
  float weights[small_training::outputs], sum = 0;
  for (std::size_t c = 0; c < small_training::outputs; ++c) sum += weights[c] = data.feature(sample, c) > 0 ? 4 : 1;
  return weights[output] / sum;
}

/// A batch's targets [batch, 4] of `element(data, sample, output)`.
template <class T> auto targets_of(float (*element)(const small_training&, std::size_t, std::size_t)) {
  return [element](const small_training& data, std::size_t first_sample) {
    tensor<T, extents<dyn, 4>, on<cpu>> targets(extents<dyn, 4>{small_training::batch});
    for (std::size_t row = 0; row < small_training::batch; ++row)
      for (std::size_t c = 0; c < small_training::outputs; ++c)
        targets(row, c) = static_cast<T>(element(data, first_sample + row, c));
    return targets;
  };
}

/// A batch's class numbers: which of the first four features is the largest.
inline tensor<std::int64_t, extents<dyn>, on<cpu>> largest_feature(const small_training& data,
                                                                   std::size_t first_sample) {
  tensor<std::int64_t, extents<dyn>, on<cpu>> labels(extents<dyn>{small_training::batch});
  for (std::size_t row = 0; row < small_training::batch; ++row) {
    std::size_t best = 0;
    for (std::size_t c = 1; c < small_training::outputs; ++c)
      best = data.feature(first_sample + row, c) > data.feature(first_sample + row, best) ? c : best;
    labels(row) = static_cast<std::int64_t>(best);
  }
  return labels;
}

/// Trains from PyTorch's initial parameters with the targets `targets(data, first_sample)` of each batch. Checks that
/// the loss of every step and the final last bias are within 1e-4 (float) or 1e-10 (double), relative, of PyTorch's.
/// Runs only 40 steps under sanitizers, and 5 on the GPU in software.
template <class Net, class Where, class T, class Samples = extents<dyn, 16>, class Loss, class Targets>
void follow_small_network(const std::string& name, std::uint64_t run, const Loss& loss, const Targets& targets) {
  const small_training data{run};
  model<Net, on<cpu>, T> initial{seed{0}};
  std::size_t which = 0;
  initial.for_each_parameter([&](const std::string&, auto values) {
    for (std::size_t i = 0; i < values.size(); ++i) values.data()[i] = static_cast<T>(data.parameter(which, i));
    ++which;
  });
  auto model = to<Where>(initial);
  trainer step{model, loss, optim::sgd{.learning_rate = 0.05, .momentum = 0.9}};

  const std::string folder = "networks/" + name + (sizeof(T) == 4 ? "/f32/" : "/f64/");
  const auto losses = read_fixture<T, extents<small_training::steps>>(folder + "losses");
  const double tolerance = sizeof(T) == 4 ? 1e-4 : 1e-10;
  tensor<T, Samples, on<cpu>> x(Samples{small_training::batch});
  const std::size_t steps = support::on_software_gpu ? 5 : support::sanitized ? 40 : small_training::steps;
  for (std::size_t i = 0; i < steps; ++i) {
    for (std::size_t row = 0; row < small_training::batch; ++row) {
      const std::size_t sample = i * small_training::batch + row;
      for (std::size_t c = 0; c < small_training::inputs; ++c)
        x.data()[row * small_training::inputs + c] = static_cast<T>(data.feature(sample, c));
    }
    const double found =
        static_cast<double>(step(to_batch<Where>(x), to_batch<Where>(targets(data, i * small_training::batch))).item());
    const double expected = static_cast<double>(losses(i));
    INFO(name << ", step " << i << ": " << found << ", PyTorch " << expected);
    REQUIRE(std::abs(found - expected) <= tolerance * expected);
  }
  if (steps < small_training::steps) return;
  const auto last = read_fixture<T, extents<4>>(folder + "last_bias");
  std::vector<T> bias;
  std::as_const(model).for_each_parameter([&](const std::string&, auto values) { bias = support::values_of(values); });
  for (std::size_t i = 0; i < 4; ++i)
    CHECK(static_cast<double>(bias[i]) == Catch::Approx(static_cast<double>(last(i))).epsilon(10 * tolerance));
}

/// Networks with each activation that saves its input or has numeric template arguments.
template <class Where, class T> void follow_activations() {
  using from = nn::linear<16, 16>;
  using last = nn::linear<16, 4>;
  follow_small_network<nn::sequential<from, nn::gelu, from, nn::silu, from, nn::elu<>, last>, Where, T>(
      "gelu_silu_elu", 1, nn::mse{}, targets_of<T>(product_of_features));
  follow_small_network<
      nn::sequential<from, nn::gelu_tanh, from, nn::leaky_relu<std::ratio<1, 5>>, from, nn::softplus<>, last>, Where,
      T>("gelu_tanh_leaky_relu_softplus", 2, nn::mse{}, targets_of<T>(product_of_features));
}

/// A network with each of the normalisations of rows.
template <class Where, class T> void follow_normalizations() {
  using from = nn::linear<16, 16>;
  follow_small_network<nn::sequential<from, nn::layer_norm<16>, nn::tanh, from, nn::rms_norm<16>, nn::linear<16, 4>>,
                       Where, T>("layer_norm_rms_norm", 8, nn::mse{}, targets_of<T>(product_of_features));
}

/// Attention over all four positions of the 16 inputs, with smoothed labels.
template <class Where, class T> void follow_attention() {
  using net = nn::sequential<nn::input<4, 4>, nn::linear<4, 8>, nn::residual<nn::multi_head_attention<8, 2>>,
                             nn::flatten, nn::linear<32, 16>, nn::sigmoid, nn::linear<16, 4>>;
  follow_small_network<net, Where, T, extents<dyn, 4, 4>>("attention_sigmoid", 9,
                                                          nn::cross_entropy{.label_smoothing = 0.1}, largest_feature);
}

/// A network with each elementwise loss and each loss on class labels.
template <class Where, class T> void follow_losses() {
  using net = nn::sequential<nn::linear<16, 16>, nn::tanh, nn::linear<16, 4>>;
  using with_logarithms = nn::sequential<nn::linear<16, 16>, nn::tanh, nn::linear<16, 4>, nn::log_softmax>;
  follow_small_network<net, Where, T>("l1", 3, nn::l1{}, targets_of<T>(product_of_features));
  follow_small_network<net, Where, T>("smooth_l1", 4, nn::smooth_l1{.beta = 0.5}, targets_of<T>(product_of_features));
  follow_small_network<net, Where, T>("bce_with_logits", 5, nn::bce_with_logits{.pos_weight = {0.5, 1, 2, 3}},
                                      targets_of<T>(is_larger));
  follow_small_network<with_logarithms, Where, T>("nll", 6, nn::nll{.class_weights = {0.5, 1, 2, 3}}, largest_feature);
  follow_small_network<with_logarithms, Where, T>("kl_div", 7, nn::kl_div{.batchmean = true},
                                                  targets_of<T>(probability));
}

}  // namespace devplace::test

// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Seconds of predictions and training steps of single layers, and of losses with their gradients, on the CPU.
//
// Answers questions on standard input, one per line, with seconds per call: `predict <layer>`, `step <layer>` and `loss
// <loss>`; `threads <count>` comes first. benchmarks/peers/layers.py asks this program and PyTorch in turn.

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include <devplace/all.hpp>
#include <devplace/attention.hpp>
#include <devplace/convolution.hpp>

#include "support/questions.hpp"
#include "support/timing.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using dp::bench::time_of;
using on_cpu = dp::on<dp::cpu>;

namespace {

/// Times a layer for samples of the given extents. A step uses mse, and sgd or, if the layer has no parameters,
/// computes the gradient of its input.
template <class Layer, std::size_t... Sample> double seconds_of(std::size_t samples, bool step) {
  using model_type = dp::model<nn::sequential<nn::input<Sample...>, Layer>, on_cpu>;
  using element = typename model_type::input_type;
  const dp::extents<dp::dyn, Sample...> extents{samples};
  model_type model{dp::seed{1}};
  const auto x = [&] {
    if constexpr (std::is_same_v<element, float>) {
      return dp::normal<float, on_cpu>(extents, dp::seed{2});
    } else {
      dp::tensor<element, dp::extents<dp::dyn, Sample...>, on_cpu> numbers(extents);
      for (std::size_t i = 0; i < numbers.size(); ++i) numbers.data()[i] = static_cast<element>(i * 7919 % 1000);
      return numbers;
    }
  }();
  if (!step) return time_of([&] { const auto y = model.predict(x); });
  const auto y = model.predict(x);
  if constexpr (model_type::parameter_count() == 0)
    return time_of([&] {
      auto [output, saved] = model.forward(x);
      const auto loss = nn::mse{}(output, y);
      const auto gradients = model.backward_to_input(std::move(saved), loss.gradient);
    });
  dp::trainer train{model, nn::mse{}, dp::optim::sgd{.learning_rate = 1e-6}};
  return time_of([&] { train(x, y); });
}

template <class Layer> double of_images(bool step) { return seconds_of<Layer, 32, 28, 28>(64, step); }
template <class Layer> double of_sequences(bool step) { return seconds_of<Layer, 64, 256>(32, step); }

double seconds_of_layer(const std::string& layer, bool step) {
  if (layer == "conv3x3") return of_images<nn::conv2d<32, 32, nn::kernel<3>, nn::padding<1>>>(step);
  if (layer == "conv1x1") return of_images<nn::conv2d<32, 64, nn::kernel<1>>>(step);
  if (layer == "conv5x5_stride2")
    return of_images<nn::conv2d<32, 32, nn::kernel<5>, nn::stride<2>, nn::padding<2>>>(step);
  if (layer == "depthwise") return of_images<nn::conv2d<32, 32, nn::kernel<3>, nn::padding<1>, nn::groups<32>>>(step);
  if (layer == "conv_transpose") return of_images<nn::conv_transpose2d<32, 16, nn::kernel<2>, nn::stride<2>>>(step);
  if (layer == "conv_of_256_channels")
    return seconds_of<nn::conv2d<256, 256, nn::kernel<3>, nn::padding<1>>, 256, 7, 7>(32, step);
  if (layer == "conv1d") return seconds_of<nn::conv1d<64, 64, nn::kernel<5>, nn::padding<2>>, 64, 512>(32, step);
  if (layer == "max_pool") return of_images<nn::max_pool2d<nn::kernel<2>>>(step);
  if (layer == "avg_pool") return of_images<nn::avg_pool2d<nn::kernel<2>>>(step);
  if (layer == "global_average_pool") return of_images<nn::global_average_pool>(step);
  if (layer == "upsample") return of_images<nn::upsample<2>>(step);
  if (layer == "batch_norm") return of_images<nn::batch_norm<32>>(step);
  if (layer == "group_norm") return of_images<nn::group_norm<8, 32>>(step);
  if (layer == "relu") return of_images<nn::relu>(step);
  if (layer == "leaky_relu") return of_images<nn::leaky_relu<>>(step);
  if (layer == "gelu") return of_images<nn::gelu>(step);
  if (layer == "silu") return of_images<nn::silu>(step);
  if (layer == "permute") return of_images<nn::permute<1, 2, 0>>(step);
  if (layer == "residual") return of_images<nn::residual<nn::relu>>(step);
  if (layer == "concat") return of_images<nn::concat_of<nn::identity, nn::relu>>(step);
  if (layer == "layer_norm") return of_sequences<nn::layer_norm<256>>(step);
  if (layer == "rms_norm") return of_sequences<nn::rms_norm<256>>(step);
  if (layer == "softmax") return of_sequences<nn::softmax>(step);
  if (layer == "log_softmax") return of_sequences<nn::log_softmax>(step);
  if (layer == "linear") return of_sequences<nn::linear<256, 1024>>(step);
  if (layer == "attention") return of_sequences<nn::multi_head_attention<256, 8>>(step);
  if (layer == "causal_attention") return of_sequences<nn::multi_head_attention<256, 8, nn::causal>>(step);
  if (layer == "embedding") return seconds_of<nn::embedding<1000, 256>, 64>(32, step);
  return dp::bench::not_done;
}

double seconds_of_loss(const std::string& loss) {
  constexpr dp::extents<1024, 256> extents;
  const auto x = dp::normal<float, on_cpu>(extents, dp::seed{1});
  const dp::tensor probability = dp::sigmoid(dp::normal<float, on_cpu>(extents, dp::seed{2}));
  const dp::tensor logarithm = dp::log(probability);
  const auto of = [&](const auto& function, const auto& y) {
    return time_of([&] { const auto result = nn::evaluate_loss(function, y, probability); });
  };
  if (loss == "mse") return of(nn::mse{}, x);
  if (loss == "l1") return of(nn::l1{}, x);
  if (loss == "smooth_l1") return of(nn::smooth_l1{}, x);
  if (loss == "bce_with_logits") return of(nn::bce_with_logits{}, x);
  if (loss == "kl_div") return of(nn::kl_div{}, logarithm);
  return dp::bench::not_done;
}

}  // namespace

int main() {
  dp::bench::answer_questions(dp::set_thread_count, [](const std::string& kind, const std::string& of) {
    return kind == "loss" ? seconds_of_loss(of) : seconds_of_layer(of, kind == "step");
  });
}

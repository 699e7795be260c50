// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Microseconds of convolutions of MNIST-like images on the CPU.
//
// Answers questions on standard input, one per line, with seconds per call: `forward <name>` and `both <name>`
// (forward, and backward to the input and the parameters); `threads <count>` comes first. The names are conv1, conv2,
// conv3 and pointwise. benchmarks/peers/conv2d.py asks this program and PyTorch in turn. With the argument `types` it
// prints all of them in float, mixed<bf16> and mixed<half>, medians of alternated rounds. With the argument `axes` it
// prints convolutions of images of few rows and of few columns.

#include <cstddef>
#include <cstdio>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <devplace/base/thread_team.hpp>
#include <devplace/convolution.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/ops/creation.hpp>

#include "support/questions.hpp"
#include "support/timing.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using dp::bench::time_of;
using on_cpu = dp::on<dp::cpu>;

namespace {

constexpr std::size_t batch = 64;

template <std::size_t In, std::size_t Out, std::size_t Size, std::size_t Kernel> double layer(bool backward) {
  using net =
      nn::sequential<nn::input<In, Size, Size>, nn::conv2d<In, Out, nn::kernel<Kernel>, nn::padding<Kernel / 2>>>;
  dp::model<net, on_cpu> model{dp::seed{1}};
  const auto x = dp::normal<float, on_cpu>(dp::extents<dp::dyn, In, Size, Size>{batch}, dp::seed{2});
  const auto dy =
      nn::output_gradient(dp::normal<float, on_cpu>(dp::extents<dp::dyn, Out, Size, Size>{batch}, dp::seed{3}));
  dp::tensor<float, dp::extents<dp::dyn, Out, Size, Size>, on_cpu> y(dp::extents<dp::dyn, Out, Size, Size>{batch});
  if (!backward) return time_of([&] { model.predict_into(y, x); });
  return time_of([&] {
    auto [out, saved] = model.forward(x);
    if constexpr (In == 1)
      static_cast<void>(model.backward(std::move(saved), dy));
    else
      static_cast<void>(model.backward_to_input(std::move(saved), dy));
  });
}

double layer(const std::string& name, bool backward) {
  if (name == "conv1") return layer<1, 16, 28, 3>(backward);
  if (name == "conv2") return layer<16, 32, 14, 3>(backward);
  if (name == "conv3") return layer<32, 64, 14, 3>(backward);
  return layer<64, 64, 14, 1>(backward);
}

/// Times the operations of a layer on numbers of type T: forward, or all three gradients.
template <class T> double operations(const dp::detail::convolution_shape& s, bool backward) {
  using float_array = dp::tensor<float, dp::extents<dp::dyn>, on_cpu>;
  const auto make = [](std::size_t count) {
    return dp::normal<T, on_cpu>(dp::extents<dp::dyn>{count}, dp::seed{count}, 0.0F, 0.1F);
  };
  const std::size_t channels = s.groups * s.channels, outputs = s.groups * s.outputs;
  auto x = make(s.samples * channels * s.plane()), weight = make(s.weights()), bias = make(outputs),
       y = make(s.samples * outputs * s.pixels());
  float_array wide(dp::extents<dp::dyn>{s.weights() + outputs + channels}), dw(dp::extents<dp::dyn>{s.weights()}),
      sums(dp::extents<dp::dyn>{y.size() + x.size()});
  float_array scratch(dp::extents<dp::dyn>{s.samples * convolution_scratch(s)}), db(dp::extents<dp::dyn>{outputs});
  const dp::detail::convolution_floats<T> floats{wide.data(), sums.data()};
  using dp::detail::product_math;
  using on = dp::backend::cpu;
  return time_of([&] {
    if (!backward)
      return dp::detail::dispatch<dp::op::convolution, on>(
          0, dp::detail::convolution_arguments<T>{s, x.data(), weight.data(), bias.data(), y.data(),
                                                  dp::detail::epilogue::relu, product_math::strict, floats});
    dp::detail::dispatch<dp::op::convolution_bias_gradient, on>(
        0, dp::detail::convolution_bias_gradient_arguments<T>{s.samples, outputs, s.pixels(), y.data(), db.data(), 0});
    dp::detail::dispatch<dp::op::convolution_weight_gradient, on>(
        0, dp::detail::convolution_weight_gradient_arguments<T>{s, y.data(), x.data(), dw.data(), 0, scratch.data()});
    dp::detail::dispatch<dp::op::convolution_input_gradient, on>(
        0, dp::detail::convolution_input_gradient_arguments<T>{s, y.data(), weight.data(), nullptr, x.data(),
                                                               product_math::strict, floats});
  });
}

void print_types() {
  constexpr int rounds = 9;
  const auto shape = [](std::size_t in, std::size_t out, std::size_t size, std::size_t kernel) {
    const dp::detail::window_axis axis{size, size, kernel, 1, kernel / 2, 1};
    return dp::detail::convolution_shape{batch, 1, in, out, axis, axis};
  };
  const std::pair<const char*, dp::detail::convolution_shape> layers[] = {{"conv1", shape(1, 16, 28, 3)},
                                                                          {"conv2", shape(16, 32, 14, 3)},
                                                                          {"conv3", shape(32, 64, 14, 3)},
                                                                          {"pointwise", shape(64, 64, 14, 1)}};
  std::printf("batch %zu, microseconds; in parentheses the ratio to float\n", batch);
  for (const bool backward : {false, true})
    for (const auto& [name, s] : layers) {
      std::vector<double> in_float, in_bf16, in_half;
      for (int round = 0; round < rounds; ++round) {
        in_float.push_back(operations<float>(s, backward));
        in_bf16.push_back(operations<dp::bf16>(s, backward));
        in_half.push_back(operations<dp::half>(s, backward));
      }
      const double f = dp::bench::median(in_float), b = dp::bench::median(in_bf16), h = dp::bench::median(in_half);
      std::printf("%-10s%-10s float %8.0f   bf16 %8.0f (%.2f)   half %8.0f (%.2f)\n",
                  backward ? "gradients" : "forward", name, 1e6 * f, 1e6 * b, b / f, 1e6 * h, h / f);
    }
}

void print_axes() {
  constexpr dp::detail::window_axis five{4096, 4096, 5, 1, 2, 1};
  constexpr std::tuple<const char*, std::size_t, std::size_t, std::size_t> layers[] = {
      {"5x1", 1, 16, 1}, {"5x3", 1, 16, 3}, {"depthwise 5x1", 16, 1, 1}, {"depthwise 5x3", 16, 1, 3}};
  std::printf("4 samples, 16 channels, 4096 rows, microseconds; in parentheses the ratio to exchanged axes\n");
  for (const std::size_t columns : {1U, 2U, 4U})
    for (const bool backward : {false, true})
      for (const auto& [name, groups, channels, taps] : layers) {
        const dp::detail::window_axis other{columns, columns, taps, 1, taps / 2, 1};
        std::vector<double> wide, high;
        for (int round = 0; round < 9; ++round) {
          wide.push_back(operations<float>({4, groups, channels, channels, other, five}, backward));
          high.push_back(operations<float>({4, groups, channels, channels, five, other}, backward));
        }
        const double w = dp::bench::median(wide), h = dp::bench::median(high);
        std::printf("%-10s%-14s %zu rows %8.0f   %zu columns %8.0f (%.2f)\n", backward ? "gradients" : "forward", name,
                    columns, 1e6 * w, columns, 1e6 * h, h / w);
      }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "types") return print_types(), 0;
  if (argc > 1 && std::string(argv[1]) == "axes") return print_axes(), 0;
  dp::bench::answer_questions(dp::set_thread_count, [](const std::string& what, const std::string& name) {
    return layer(name, what == "both");
  });
}

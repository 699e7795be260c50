// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Microseconds of convolutions and of a training step of a small CNN on the CPU, with images like MNIST's.
//
// Answers questions on standard input, one a line, with seconds per call: `forward <name>`, `both <name>` (forward, and
// backward to the input and the parameters), `step <batch>`, `predict <batch>`, with `threads <count>` before. The
// names are conv1, conv2, conv3 and pointwise. benchmarks/peers/conv2d.py asks them and PyTorch in turn.

#include <cstddef>
#include <cstdint>
#include <iostream>
#include <string>
#include <utility>

#include <devplace/convolution.hpp>
#include <devplace/nn/cross_entropy.hpp>
#include <devplace/nn/flatten.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/linear.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/optim/sgd.hpp>
#include <devplace/place/thread_team.hpp>
#include <devplace/train/trainer.hpp>

#include "support/timing.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using dp::bench::now;
using on_cpu = dp::on<dp::cpu>;

namespace {

/// Seconds per call, the mean over about 50 ms, after two calls that are not counted.
template <class Call>
double time_of(const Call& call) {
  call();
  call();
  std::size_t calls = 0;
  const double begin = now();
  do {
    call();
    ++calls;
  } while (now() - begin < 0.05);
  return (now() - begin) / static_cast<double>(calls);
}

constexpr std::size_t batch = 64;

template <std::size_t In, std::size_t Out, std::size_t Size, std::size_t Kernel>
double layer(bool backward) {
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

using cnn = nn::sequential<nn::input<1, 28, 28>, nn::conv2d<1, 16, nn::kernel<3>, nn::padding<1>>, nn::relu,
                           nn::max_pool2d<nn::kernel<2>>, nn::conv2d<16, 32, nn::kernel<3>, nn::padding<1>>, nn::relu,
                           nn::max_pool2d<nn::kernel<2>>, nn::flatten, nn::linear<32 * 7 * 7, 10>>;

double network(std::size_t rows, bool train) {
  dp::model<cnn, on_cpu> model{dp::seed{1}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.01, .momentum = 0.9}};
  const auto x = dp::uniform<float, on_cpu>(dp::extents<dp::dyn, 1, 28, 28>{rows}, dp::seed{2}, 0.0F, 1.0F);
  dp::tensor<std::int64_t, dp::extents<dp::dyn>, on_cpu> labels(dp::extents<dp::dyn>{rows});
  for (std::size_t i = 0; i < rows; ++i)
    labels(i) = static_cast<std::int64_t>(i % 10);
  if (train) return time_of([&] { static_cast<void>(step(x, labels)); });
  return time_of([&] { static_cast<void>(model.predict(x)); });
}

}  // namespace

int main() {
  std::string question, of;
  while (std::cin >> question >> of) {
    double seconds = 0;
    if (question == "threads")
      dp::set_thread_count(std::stoi(of));
    else if (question == "forward" || question == "both")
      seconds = layer(of, question == "both");
    else
      seconds = network(std::stoul(of), question == "step");
    std::cout << seconds << std::endl;
  }
}

// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Microseconds of convolutions on the CPU, of images like MNIST's.
//
// Answers questions on standard input, one a line, with seconds per call: `forward <name>` and `both <name>` (forward,
// and backward to the input and the parameters), with `threads <count>` before. The names are conv1, conv2, conv3 and
// pointwise. benchmarks/peers/conv2d.py asks them and PyTorch in turn.

#include <cstddef>
#include <string>
#include <utility>

#include <devplace/convolution.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/place/thread_team.hpp>

#include "support/questions.hpp"
#include "support/timing.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using dp::bench::time_of;
using on_cpu = dp::on<dp::cpu>;

namespace {

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

}  // namespace

int main() {
  dp::bench::answer_questions(dp::set_thread_count, [](const std::string& what, const std::string& name) {
    return layer(name, what == "both");
  });
}

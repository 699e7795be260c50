// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Work on cuda:0 that PyTorch can do, too. benchmarks/peers/gpu.py requests it line by line, so that both alternate
// within a run. Answers each line of input with the seconds of one repetition:
//
//   step float 64              training step of 784-256-10 with Adam on 64 samples, in strict float or in tf32
//   softmax 65536 10           of 65536 rows of 10 columns
//   cross_entropy 65536 10     losses and gradient of 65536 rows of 10 classes
//   adam 10000000              one update of 10 million parameters, rounded up to a square
//   copy 268435456             copy of that many bytes from device memory to device memory

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iostream>
#include <sstream>
#include <string>

#include <devplace/all.hpp>

#include "support/device_timing.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
using dp::bench::time_on;

namespace {

using gpu = dp::cuda<0>;
using host = dp::on<dp::cpu>;
using where = dp::on<gpu>;
using dp::dyn;

auto labels(std::size_t rows, std::size_t classes) {
  dp::tensor<std::int64_t, dp::extents<dyn>, host> y(dp::extents<dyn>{rows});
  for (std::size_t i = 0; i < rows; ++i) y(i) = static_cast<std::int64_t>(i % classes);
  return dp::to<where>(y);
}

auto numbers(std::size_t rows, std::size_t columns) {
  return dp::uniform<float, where>(dp::extents<dyn, dyn>{rows, columns}, dp::seed{1}, -4.0F, 4.0F);
}

template <class Precision> double step(std::size_t batch) {
  using net = nn::sequential<nn::linear<784, 256>, nn::relu, nn::linear<256, 10>>;
  const auto images = dp::uniform<float, where>(dp::extents<dyn, 784>{batch}, dp::seed{1}, 0.0F, 1.0F);
  const auto targets = labels(batch, 10);
  dp::model<net, where, Precision> model{dp::seed{2}};
  dp::trainer train{model, nn::cross_entropy{}, dp::optim::adam{}};
  return time_on<gpu>([&] { train(images, targets); });
}

double softmax(std::size_t rows, std::size_t columns) {
  const auto x = numbers(rows, columns);
  dp::tensor<float, dp::extents<dyn, dyn>, where> y(x.extents());
  return time_on<gpu>([&] { dp::softmax_into(y, x); });
}

double cross_entropy(std::size_t rows, std::size_t classes) {
  const auto x = numbers(rows, classes);
  const auto targets = labels(rows, classes);
  dp::tensor<float, dp::extents<dyn, dyn>, where> gradient(x.extents());
  dp::tensor<float, dp::extents<dyn>, where> losses(dp::extents<dyn>{rows});
  dp::tensor<float, dp::extents<2>, where> sums(dp::extents<2>{});
  return time_on<gpu>([&] { dp::cross_entropy_into(sums, gradient, losses, x, targets); });
}

/// Times updates of the parameters of one square layer, with gradients of zero.
template <std::size_t Side> double adam() {
  dp::model<nn::sequential<nn::linear<Side, Side, false>>, where> model{dp::seed{1}};
  dp::optimizer optimizer{model, dp::optim::adam{}};
  dp::runtime::require_gradients<dp::backend::cuda>(*model.shared_state());
  const auto nothing = [] {};
  const dp::detail::function_view<> spread(nothing);
  return time_on<gpu>([&] { optimizer.update(*model.shared_state(), false, {}, spread); });
}

double copy(std::size_t bytes) {
  const auto from = dp::zeros<float, where>(dp::extents<dyn>{bytes / sizeof(float)});
  dp::tensor<float, dp::extents<dyn>, where> to(from.extents());
  return time_on<gpu>([&] { dp::copy(to, from); });
}

double answer(const std::string& question) {
  std::istringstream words(question);
  std::string what, precision;
  std::size_t first = 0, second = 0;
  words >> what;
  if (what == "step") words >> precision;
  words >> first;
  if (what == "step" && precision == "float" && words) return step<float>(first);
  if (what == "step" && precision == "tf32" && words) return step<dp::tf32>(first);
  if (what == "adam" && first == 10'000'000) return adam<3'163>();
  if (what == "adam" && first == 10'000) return adam<100>();
  if (what == "copy" && words) return copy(first);
  words >> second;
  if (what == "softmax" && words) return softmax(first, second);
  if (what == "cross_entropy" && words) return cross_entropy(first, second);
  throw dp::argument_error("this is not a question that the benchmark knows: " + question);
}

}  // namespace

int main() try {
  for (std::string question; std::getline(std::cin, question);) {
    std::printf("%.9g\n", answer(question));
    std::fflush(stdout);
  }
} catch (const std::exception& problem) {
  std::fprintf(stderr, "%s\n", problem.what());
  return 1;
}

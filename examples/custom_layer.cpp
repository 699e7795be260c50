// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A user-defined layer: swish with a learned slope for each feature. It is written once, without naming a place,
// checked against finite differences, and trained on the available place.

#include <array>
#include <cmath>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <devplace/all.hpp>

namespace dp = devplace;
namespace nn = dp::nn;

/// y = x * sigmoid(beta * x), with one trained beta for each feature (Ramachandran, Zoph and Le 2017).
template <std::size_t Features> struct swish {
  using input_extents = dp::extents<Features>;
  template <class In> using output = In;

  /// The parameters: name, extents, initialisation.
  static constexpr std::array parameters{nn::parameter{"beta", {Features}, nn::init::ones()}};
  /// backward reads the input; the memory of the output may be reused.
  static constexpr nn::keep keeps = nn::keep::input;
  /// Elements per sample that backward needs temporarily. The memory plan includes them, so a step does not allocate.
  template <class In> static constexpr std::size_t scratch = Features;

  static void forward(const auto& c) {
    const auto beta = c.template parameter<0>();
    c.output = c.input * dp::sigmoid(beta * c.input);
  }

  /// With s = sigmoid(beta x): dy/dx = s + beta x s (1 - s) and dy/dbeta = x^2 s (1 - s), summed over the batch.
  static void backward(const auto& c) {
    const auto beta = c.template parameter<0>();
    const auto s = dp::lazy(dp::sigmoid(beta * c.input));  // computed where it is used, never stored
    const auto terms = c.scratch();
    terms = c.output_gradient * dp::square(c.input) * s * (1 - s);
    dp::sum_into(c.template parameter_gradient<0>(), terms, {.accumulate = c.accumulate}, dp::axis<0>{});
    if (c.needs_input_gradient) c.input_gradient = c.output_gradient * (s + beta * c.input * s * (1 - s));
  }
};

using net = nn::sequential<nn::linear<1, 16>, swish<16>, nn::linear<16, 1>>;
constexpr std::size_t points = 256;

/// Fits sin(3x) on [-1, 1]; returns the mean squared error of the last step.
template <dp::single_place Where> double fit() {
  std::vector<float> x, y;
  for (std::size_t i = 0; i < points; ++i) {
    x.push_back(2 * static_cast<float>(i) / (points - 1) - 1);
    y.push_back(std::sin(3 * x.back()));
  }
  const auto inputs = dp::to<Where>(dp::wrap(x, dp::extents<points, 1>{}));
  const auto targets = dp::to<Where>(dp::wrap(y, dp::extents<points, 1>{}));

  dp::model<net, Where> model{dp::seed{1}};
  dp::trainer step{model, nn::mse{}, dp::optim::adam{.learning_rate = 1e-2}};
  double error = 0;
  for (int i = 0; i <= 1000; ++i) {
    const auto loss = step(inputs, targets);
    if (i % 200 != 0) continue;
    error = loss.item();
    std::printf("  step %4d  mean squared error %.2e\n", i, error);
  }

  const auto beta = dp::to<dp::on<dp::cpu>>(model.template parameter<2>());
  std::printf("%s after training:", model.parameter_names()[2].c_str());
  for (std::size_t i = 0; i < beta.size(); ++i) std::printf(" %.2f", static_cast<double>(beta(i)));
  std::printf("\n");
  return error;
}

int main() try {
  const nn::gradient_check check = nn::check_gradients<net>(dp::seed{1});
  std::printf("gradients: %zu compared with finite differences, the worst differs by %.1e at %s\n", check.checked,
              check.worst, check.where.c_str());
  if (check.worst > 1e-7) return 1;

  const double error = dp::first_available<dp::on<dp::cuda<0>>, dp::on<dp::cpu>>([](auto where) {
    std::printf("training on %s\n", dp::placement_name<decltype(where)>().c_str());
    return fit<decltype(where)>();
  });
  return error < 1e-3 ? 0 : 1;
} catch (const std::exception& problem) {
  std::fprintf(stderr, "%s\n", problem.what());
  return 2;
}

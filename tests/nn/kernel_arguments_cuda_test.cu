// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// nvcc 13.0 does not accept class-type template values with arrays or constructors in a kernel's template arguments.
// This file has architectures full of them: if it compiles, no such type reaches a kernel.

#include <algorithm>
#include <array>
#include <cstddef>
#include <ratio>
#include <vector>

#include <devplace/all.hpp>

#include "support/catch.hpp"
#include "support/cuda_device.hpp"

namespace dp = devplace;
namespace nn = dp::nn;

namespace {

template <std::size_t N> struct fixed_string {
  char text[N];
  constexpr fixed_string(const char (&literal)[N]) { std::copy_n(literal, N, text); }
};

struct shape_value {
  std::array<std::size_t, 2> extents;
  int dilation;
};

/// A user's layer with a name, an array and a struct as template values.
template <fixed_string Name, std::array<int, 3> Numbers, shape_value Shape> struct named_scale {
  template <class In> using output = In;
  static constexpr nn::keep keeps = nn::keep::nothing;
  static constexpr float factor = static_cast<float>(Numbers[0] + Numbers[1] * Numbers[2]) / Shape.dilation;

  static void forward(const auto& c) { c.output = c.input * factor; }
  static void backward(const auto& c) {
    if (c.needs_input_gradient) c.input_gradient = c.output_gradient * factor;
  }
};

/// A user's layer of this kind with a parameter.
template <fixed_string Name, std::array<std::size_t, 1> Features> struct named_gain {
  using input_extents = dp::extents<Features[0]>;
  template <class In> using output = In;
  static constexpr nn::keep keeps = nn::keep::input;
  static constexpr std::array parameters{nn::parameter{"gain", {Features[0]}, nn::init::ones()}};
  template <class In> static constexpr std::size_t scratch = Features[0];

  static void forward(const auto& c) { c.output = c.input * c.template parameter<0>(); }
  static void backward(const auto& c) {
    const auto terms = c.scratch();
    terms = c.output_gradient * c.input;
    dp::sum_into(c.template parameter_gradient<0>(), terms, {.accumulate = c.accumulate}, dp::axis<0>{});
    if (c.needs_input_gradient) c.input_gradient = c.output_gradient * c.template parameter<0>();
  }
};

using net =
    nn::sequential<nn::input<6>, named_scale<"input", std::array{1, 2, 3}, shape_value{{28, 28}, 7}>, nn::linear<6, 8>,
                   named_gain<"gain", std::array<std::size_t, 1>{8}>, nn::relu, nn::dropout<std::ratio<1, 10>>,
                   nn::residual<nn::linear<8, 8>, named_scale<"skip", std::array{0, 1, 2}, shape_value{{}, 2}>>,
                   nn::linear<8, 3>>;

template <class Where> float train() {
  std::vector<float> x(13 * 6);
  std::vector<std::int64_t> y(13);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7 % 11) / 11;
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<std::int64_t>(i % 3);
  using host = dp::on<dp::cpu>;
  const auto images = dp::to<Where>(dp::wrap(x, dp::extents<dp::dyn, 6>{13}));
  const auto labels = dp::to<Where>(dp::wrap(y, dp::extents<dp::dyn>{13}));
  dp::model<net, Where> model{dp::seed{3}};
  dp::trainer step{model, nn::cross_entropy{}, dp::optim::sgd{.learning_rate = 0.1f}};
  step(images, labels);
  return step(images, labels).item();
}

}  // namespace

TEST_CASE("architectures with strings and arrays as template values train on a CUDA device as on the CPU", "[nn]") {
  const float cpu = train<dp::on<dp::cpu>>();
  CHECK(cpu > 0);
  if (dp::available<dp::on<dp::cuda<0>>>()) {
    CHECK(train<dp::on<dp::cuda<0>>>() == Catch::Approx(cpu).epsilon(1e-4));
  } else {
    CHECK_THROWS_AS(train<dp::on<dp::cuda<0>>>(), dp::placement_unavailable);
  }
}

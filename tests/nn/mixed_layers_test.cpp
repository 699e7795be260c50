// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <ratio>
#include <string>
#include <vector>

#include <devplace/nn/avg_pool1d.hpp>
#include <devplace/nn/avg_pool2d.hpp>
#include <devplace/nn/batch_norm.hpp>
#include <devplace/nn/conv1d.hpp>
#include <devplace/nn/conv2d.hpp>
#include <devplace/nn/conv_transpose2d.hpp>
#include <devplace/nn/dropout.hpp>
#include <devplace/nn/gelu.hpp>
#include <devplace/nn/global_average_pool.hpp>
#include <devplace/nn/group_norm.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/layer_norm.hpp>
#include <devplace/nn/log_softmax.hpp>
#include <devplace/nn/max_pool1d.hpp>
#include <devplace/nn/max_pool2d.hpp>
#include <devplace/nn/multi_head_attention.hpp>
#include <devplace/nn/permute.hpp>
#include <devplace/nn/positional_embedding.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/reshape.hpp>
#include <devplace/nn/residual.hpp>
#include <devplace/nn/rms_norm.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/softmax.hpp>
#include <devplace/nn/upsample.hpp>
#include <devplace/runtime/engine.hpp>
#include <devplace/runtime/working_copy.hpp>

#include "support/catch.hpp"
#include "support/convolution_loops.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;
namespace runtime = devplace::runtime;

namespace {

using devplace::backend::cpu;

constexpr std::size_t mixed_batch = 5;

/// Numbers between -2 and 2 that are exact in bf16 and in half.
std::vector<float> exact_numbers(std::size_t count, unsigned start) {
  std::vector<float> result(count);
  unsigned state = start;
  for (float& x : result) {
    state = state * 1664525 + 1013904223;
    x = static_cast<float>(static_cast<int>(state >> 24) - 128) / 64;
  }
  return result;
}

/// The results of one layer in a precision, as float.
struct results {
  std::vector<float> y, dx, gradients, predicted;
};

template <class Net, class P>
results results_of(const std::vector<float>& x, const std::vector<float>& parameters,
                   const std::vector<float>& upstream) {
  using run = runtime::engine<Net, P, cpu>;
  using plan = runtime::network_plan<Net>;
  using roles = dp::precision_traits<P>;
  using activation = typename roles::activation;
  constexpr int place[] = {0};
  const auto state =
      runtime::empty_state<typename roles::storage, cpu>(place, {plan::parameter_elements, plan::buffer_elements});
  runtime::require_gradients<cpu>(*state);
  const auto& r = state->replicas.front();
  std::copy(parameters.begin(), parameters.end(), r.parameter_data());
  runtime::renew_working_copies<cpu>(*state);

  const std::size_t outputs = mixed_batch * typename plan::output{}.size();
  std::vector<std::byte> workspace(run::workspace_bytes(mixed_batch, nn::mode::train) + 64);
  const auto p = run::make_pass(r, workspace.data(), mixed_batch, nn::mode::train, {7, 1, 0, 0});
  run::forward(p, x.data());
  results all;
  all.y.assign(run::output_of(p), run::output_of(p) + outputs);
  std::vector<activation> dy, dx(x.size());
  for (const float value : upstream) dy.push_back(static_cast<activation>(value));
  run::backward(p, r, x.data(), dy.data(), false, dx.data());
  all.dx.assign(dx.begin(), dx.end());
  all.gradients.assign(r.gradient_data(), r.gradient_data() + plan::parameter_elements);

  std::vector<std::byte> another(run::workspace_bytes(mixed_batch, nn::mode::predict) + 64);
  const auto q = run::make_pass(r, another.data(), mixed_batch, nn::mode::predict, {});
  run::forward(q, x.data());
  all.predicted.assign(run::output_of(q), run::output_of(q) + outputs);
  return all;
}

template <class Net, class P> results results_of(const std::vector<float>& x) {
  using plan = runtime::network_plan<Net>;
  return results_of<Net, P>(x, exact_numbers(plan::parameter_elements, 3),
                            exact_numbers(mixed_batch * typename plan::output{}.size(), 11));
}

template <class Short> std::vector<float> rounded_to(const std::vector<float>& exact) {
  std::vector<float> result;
  for (const float x : exact) result.push_back(static_cast<float>(static_cast<Short>(x)));
  return result;
}

void require_near(const std::vector<float>& values, const std::vector<float>& expected, double tolerance) {
  REQUIRE(values.size() == expected.size());
  double largest = 1;
  for (const float x : expected) largest = std::max(largest, std::abs(static_cast<double>(x)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    INFO("element " << i << ": " << values[i] << ", in float " << expected[i]);
    REQUIRE(std::abs(static_cast<double>(values[i]) - static_cast<double>(expected[i])) <= tolerance * largest);
  }
}

/// Checks that a layer in mixed precision computes in float and rounds its results once: for an input that is exact in
/// 16 bits, the output equals the rounded output of the layer in float bitwise. Backward reads rounded outputs.
template <class Net, class Short> void compare_with_float() {
  const std::vector<float> x = exact_numbers(mixed_batch * typename runtime::network_plan<Net>::input{}.size(), 1);
  const results exact = results_of<Net, float>(x), in_short = results_of<Net, dp::mixed<Short>>(x);
  constexpr double rounding = std::is_same_v<Short, dp::half> ? 0x1p-11 : 0x1p-8;
  CHECK(in_short.y == rounded_to<Short>(exact.y));
  CHECK(in_short.predicted == rounded_to<Short>(exact.predicted));
  require_near(in_short.dx, exact.dx, 4 * rounding);
  require_near(in_short.gradients, exact.gradients, 1e-6);
}

/// Numbers between -1 and 1 that are exact neither in bf16 nor in half.
std::vector<float> inexact_numbers(std::size_t count, unsigned start) {
  std::vector<float> result(count);
  unsigned state = start;
  for (float& x : result) {
    state = state * 1664525 + 1013904223;
    x = (static_cast<float>(state >> 9) + 0.5F) / 0x1p22F - 1;
  }
  return result;
}

/// Checks that a 16-bit result is the nearest number to the exact sum, or to a sum within float's rounding of it.
template <class Short> void require_rounded_once(const std::vector<float>& values, const std::vector<double>& exact) {
  REQUIRE(values.size() == exact.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    INFO("element " << i << ": " << values[i] << ", exactly " << exact[i]);
    const auto nearest = [&](double error) {
      return static_cast<float>(static_cast<Short>(static_cast<float>(exact[i] + error)));
    };
    REQUIRE(values[i] >= nearest(-1e-5));
    REQUIRE(values[i] <= nearest(1e-5));
  }
}

using transposed_layer = nn::conv_transpose2d<16, 4, nn::kernel<3>, nn::stride<2>>;

/// Compares a (transposed) convolution of shape `s` in 16 bits with loops in double over its rounded operands.
template <class Short, class Input, class Layer>
void compare_with_rounded_products(const dp::detail::convolution_shape& s) {
  using net = nn::sequential<Input, Layer>;
  using plan = runtime::network_plan<net>;
  constexpr bool transposed = std::is_same_v<Layer, transposed_layer>;
  const std::size_t inputs = mixed_batch * typename plan::input{}.size(),
                    outputs = mixed_batch * typename plan::output{}.size();
  const std::size_t channels = transposed ? s.groups * s.channels : s.groups * s.outputs;
  const std::size_t plane = transposed ? s.plane() : s.pixels();
  const std::vector<float> given_x = inexact_numbers(inputs, 1), given_dy = inexact_numbers(outputs, 2),
                           parameters = inexact_numbers(plan::parameter_elements, 3);
  const results all = results_of<net, dp::mixed<Short>>(given_x, parameters, given_dy);
  const std::vector<float> x = rounded_to<Short>(given_x), dy = rounded_to<Short>(given_dy),
                           rounded = rounded_to<Short>(parameters);
  const std::size_t first_bias = runtime::padded(s.weights());

  std::vector<double> y(outputs), dx(inputs), gradients(s.weights()), sums(channels);
  dp::test::for_each_product(s, [&](std::size_t of_y, std::size_t of_x, std::size_t of_weight) {
    const std::size_t to = transposed ? of_x : of_y, from = transposed ? of_y : of_x;
    const double weight = static_cast<double>(rounded[of_weight]);
    y[to] += static_cast<double>(x[from]) * weight;
    dx[from] += static_cast<double>(dy[to]) * weight;
    gradients[of_weight] += static_cast<double>(dy[to]) * static_cast<double>(x[from]);
  });
  for (std::size_t i = 0; i < outputs; ++i) {
    y[i] += static_cast<double>(rounded[first_bias + i / plane % channels]);
    sums[i / plane % channels] += static_cast<double>(dy[i]);
  }
  require_rounded_once<Short>(all.y, y);
  CHECK(all.predicted == all.y);
  require_rounded_once<Short>(all.dx, dx);
  for (std::size_t i = 0; i < gradients.size(); ++i)
    REQUIRE(std::abs(static_cast<double>(all.gradients[i]) - gradients[i]) <= 1e-4);
  for (std::size_t i = 0; i < channels; ++i)
    REQUIRE(std::abs(static_cast<double>(all.gradients[first_bias + i]) - sums[i]) <= 1e-4);
}

template <class... Layers> using of_a_row = nn::sequential<nn::input<20>, Layers...>;
template <class... Layers> using of_an_image = nn::sequential<nn::input<3, 6, 4>, Layers...>;

}  // namespace

TEST_CASE("elementwise functions in bf16 compute in float and round once", "[nn]") {
  compare_with_float<of_a_row<nn::relu>, dp::bf16>();
  compare_with_float<of_a_row<nn::gelu>, dp::bf16>();
  compare_with_float<of_a_row<nn::dropout<std::ratio<1, 4>>>, dp::bf16>();
}

TEST_CASE("softmax and normalisations in bf16 and half compute in float and round once", "[nn]") {
  compare_with_float<of_a_row<nn::softmax>, dp::bf16>();
  compare_with_float<of_a_row<nn::log_softmax>, dp::half>();
  compare_with_float<of_a_row<nn::layer_norm<20>>, dp::bf16>();
  compare_with_float<of_a_row<nn::rms_norm<20>>, dp::half>();
  compare_with_float<of_an_image<nn::batch_norm<3>>, dp::bf16>();
  compare_with_float<of_an_image<nn::batch_norm<3, nn::over_all_places>>, dp::half>();
  compare_with_float<of_an_image<nn::group_norm<3, 3>>, dp::bf16>();
}

TEST_CASE("image layers without products compute in float and round once in bf16", "[nn]") {
  compare_with_float<of_an_image<nn::max_pool2d<nn::kernel<3>, nn::stride<1>>>, dp::bf16>();
  compare_with_float<of_an_image<nn::avg_pool2d<nn::kernel<3>, nn::stride<1>, nn::padding<1>>>, dp::bf16>();
  compare_with_float<of_an_image<nn::global_average_pool>, dp::bf16>();
  compare_with_float<of_an_image<nn::upsample<2>>, dp::bf16>();
  compare_with_float<of_an_image<nn::permute<1, 2, 0>, nn::reshape<24, 3>, nn::max_pool1d<nn::kernel<2>>>, dp::bf16>();
  compare_with_float<of_a_row<nn::reshape<2, 10>, nn::permute<1, 0>, nn::avg_pool1d<nn::kernel<2>>>, dp::bf16>();
}

TEST_CASE("convolutions in 16 bits compute in float and round once", "[nn]") {
  compare_with_float<of_an_image<nn::conv2d<3, 4, nn::kernel<3>, nn::padding<1>>, nn::relu>, dp::bf16>();
  compare_with_float<of_an_image<nn::conv_transpose2d<3, 2, nn::kernel<2>, nn::stride<2>>>, dp::half>();
}

TEST_CASE("convolutions in 16 bits sum products of rounded numbers", "[nn]") {
  compare_with_rounded_products<dp::bf16, nn::input<4, 6, 5>,
                                nn::conv2d<4, 6, nn::kernel<3>, nn::padding<1>, nn::groups<2>>>(
      {mixed_batch, 2, 2, 3, {6, 6, 3, 1, 1, 1}, {5, 5, 3, 1, 1, 1}});
  compare_with_rounded_products<dp::half, nn::input<3, 7, 9>, nn::conv2d<3, 20, nn::kernel<3>, nn::stride<2>>>(
      {mixed_batch, 1, 3, 20, {7, 3, 3, 2, 0, 1}, {9, 4, 3, 2, 0, 1}});
  compare_with_rounded_products<dp::bf16, nn::input<3, 19>, nn::conv1d<3, 16, nn::kernel<4>>>(
      {mixed_batch, 1, 3, 16, {1, 1, 1, 1, 0, 1}, {19, 16, 4, 1, 0, 1}});
  compare_with_rounded_products<dp::half, nn::input<16, 4, 3>, transposed_layer>(
      {mixed_batch, 1, 4, 16, {9, 4, 3, 2, 0, 1}, {7, 3, 3, 2, 0, 1}});
}

TEST_CASE("a residual in half adds in float", "[nn]") {
  // relu's output is exact, so the sum is rounded once.
  compare_with_float<of_a_row<nn::residual<nn::relu>>, dp::half>();
}

TEST_CASE("positional_embedding in half computes in float and rounds once", "[nn]") {
  compare_with_float<nn::sequential<nn::input<5, 4>, nn::positional_embedding<5, 4>>, dp::half>();
}

TEST_CASE("attention in bf16 computes in float between rounded products", "[nn]") {
  using net =
      nn::sequential<nn::input<5, 4>, nn::positional_embedding<5, 4>, nn::multi_head_attention<4, 2, nn::causal>>;
  const std::vector<float> x = exact_numbers(mixed_batch * 20, 1);
  const results exact = results_of<net, float>(x), in_short = results_of<net, dp::mixed<dp::bf16>>(x);
  constexpr double rounding = 0x1p-8;
  require_near(in_short.y, exact.y, 8 * rounding);
  require_near(in_short.dx, exact.dx, 8 * rounding);
  require_near(in_short.gradients, exact.gradients, 8 * rounding);
  CHECK(in_short.predicted == in_short.y);
}

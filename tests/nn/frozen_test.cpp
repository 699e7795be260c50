// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include <devplace/nn/batch_norm.hpp>
#include <devplace/nn/conv2d.hpp>
#include <devplace/nn/conv_transpose2d.hpp>
#include <devplace/nn/draw_elements.hpp>
#include <devplace/nn/frozen.hpp>
#include <devplace/nn/group_norm.hpp>
#include <devplace/nn/input.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/parameter.hpp>
#include <devplace/nn/relu.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/ops/assign.hpp>
#include <devplace/ops/elementwise.hpp>

#include "support/catch.hpp"

namespace dp = devplace;
namespace nn = devplace::nn;

namespace {

/// y = weight * x. Always computes the weight's gradient, and declares float sums for 16-bit elements.
struct scaling_layer {
  template <class In> using output = In;
  static constexpr nn::keep keeps = nn::keep::input;
  template <class In> static constexpr std::size_t sums = 1;
  static constexpr bool has_sums = true;
  static constexpr std::array parameters{nn::parameter{"weight", {4}, nn::init::constant(1.5)}};

  static void forward(const auto& c) { c.output = c.input * c.template parameter<0>(); }
  static void backward(const auto& c) {
    if (c.needs_input_gradient) c.input_gradient = c.output_gradient * c.template parameter<0>();
    dp::fill(c.template parameter_gradient<0>(), 7.0F);
  }
};

using first = nn::conv2d<1, 4, nn::kernel<3>>;
using second = nn::sequential<nn::batch_norm<4>, nn::conv2d<4, 4, nn::kernel<3>>, nn::relu,
                              nn::conv_transpose2d<4, 2, nn::kernel<2>>, nn::group_norm<1, 2>>;
using trained = nn::sequential<nn::input<1, 6, 6>, first, second>;
using half_frozen = nn::sequential<nn::input<1, 6, 6>, first, nn::frozen<second>>;

/// The results of two passes of a network over three images.
struct trace {
  std::vector<float> dx, gradients, buffers, prediction;
};

/// The trace of a network in float; includes only the first convolution's gradients.
template <class Net> trace run_twice() {
  using run = dp::runtime::engine<Net, float, dp::backend::cpu>;
  constexpr int place[] = {0};
  const auto state = nn::detail::drawn_state<Net, float, dp::backend::cpu>(place, 5);
  dp::runtime::require_gradients<dp::backend::cpu>(*state);
  const auto& r = state->replicas.front();
  std::vector<float> x(3 * 36), dy(3 * 2 * 3 * 3), dx(x.size());
  nn::draw_elements<dp::backend::cpu>(0, x.data(), x.size(), nn::init::normal(0, 1), 1, "x");
  nn::draw_elements<dp::backend::cpu>(0, dy.data(), dy.size(), nn::init::normal(0, 1), 1, "dy");
  std::vector<float> workspace(run::workspace_bytes(3, nn::mode::train) / sizeof(float));
  for (const bool add : {false, true}) {
    const auto p = run::make_pass(r, workspace.data(), 3, nn::mode::train, {});
    run::forward(p, x.data());
    run::backward(p, r, x.data(), dy.data(), add, dx.data());
  }
  trace found{dx, {}, {}, {}};
  found.gradients.assign(r.gradient_data(), r.gradient_data() + 36);
  run::plan::visit_buffers([&](const std::string&, const nn::parameter& entry, std::size_t offset) {
    found.buffers.insert(found.buffers.end(), r.buffer_data() + offset, r.buffer_data() + offset + entry.shape.size());
  });
  std::vector<float> space(run::workspace_bytes(3, nn::mode::predict) / sizeof(float));
  const auto p = run::make_pass(r, space.data(), 3, nn::mode::predict, {});
  run::forward(p, x.data());
  found.prediction.assign(run::output_of(p), run::output_of(p) + dy.size());
  return found;
}

}  // namespace

TEST_CASE("a frozen part computes, propagates gradients and writes buffers like a trained part", "[nn]") {
  const trace with = run_twice<half_frozen>(), without = run_twice<trained>();
  CHECK(with.dx == without.dx);
  CHECK(with.gradients == without.gradients);
  CHECK(with.buffers == without.buffers);
  CHECK(with.buffers[0] != 0);
  CHECK(with.prediction == without.prediction);
}

TEST_CASE("a frozen layer that computes its parameters' gradients writes them to the workspace", "[nn]") {
  using net = nn::sequential<nn::input<4>, nn::frozen<scaling_layer>>;
  using run = dp::runtime::engine<net, float, dp::backend::cpu>;
  constexpr int place[] = {0};
  const auto state = nn::detail::drawn_state<net, float, dp::backend::cpu>(place, 5);
  const std::size_t size = run::workspace_bytes(3, nn::mode::train) / sizeof(float);
  std::vector<float> workspace(size + 64), x(12, 1), dy(12, 1), dx(12);
  const auto p = run::make_pass(state->replicas.front(), workspace.data(), 3, nn::mode::train, {});
  run::forward(p, x.data());
  run::backward(p, state->replicas.front(), x.data(), dy.data(), false, dx.data());
  CHECK(dx == std::vector<float>(12, 1.5F));
  CHECK(std::count(workspace.begin(), workspace.begin() + static_cast<std::ptrdiff_t>(size), 7.0F) == 4);
  CHECK(std::count(workspace.begin(), workspace.end(), 7.0F) == 4);
}

TEST_CASE("frozen parameters keep their names and follow the trained ones in the arena", "[nn]") {
  using plan = dp::runtime::network_plan<half_frozen>;
  STATIC_REQUIRE(plan::parameter_elements == 48 + 16);
  STATIC_REQUIRE(plan::frozen_elements == 2 * 16 + 144 + 16 + 32 + 16 + 2 * 16);
  std::vector<std::string> names;
  plan::visit_parameters([&](const std::string& name, const auto&, std::size_t offset) {
    names.push_back(name);
    CHECK((offset >= plan::parameter_elements) == (names.size() > 2));
  });
  CHECK(names == std::vector<std::string>{"1.weight", "1.bias", "2.0.weight", "2.0.bias", "2.1.weight", "2.1.bias",
                                          "2.3.weight", "2.3.bias", "2.4.weight", "2.4.bias"});
}

TEST_CASE("backward skips layers before the first trained layer", "[nn]") {
  using net = nn::sequential<nn::input<1, 6, 6>, nn::frozen<first>, nn::relu, nn::conv2d<4, 1, nn::kernel<1>>>;
  using run = dp::runtime::engine<net, float, dp::backend::cpu>;
  constexpr int place[] = {0};
  const auto state = nn::detail::drawn_state<net, float, dp::backend::cpu>(place, 5);
  dp::runtime::require_gradients<dp::backend::cpu>(*state);
  std::vector<float> workspace(run::workspace_bytes(1, nn::mode::train) / sizeof(float)), x(36, 1), dy(16, 1);
  const auto& r = state->replicas.front();
  const auto p = run::make_pass(r, workspace.data(), 1, nn::mode::train, {});
  run::forward(p, x.data());
  const std::vector<float> scratch(workspace);
  run::backward(p, r, x.data(), dy.data(), false);
  CHECK(workspace == scratch);  // a gradient of relu's output would change it
}

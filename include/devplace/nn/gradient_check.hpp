// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <new>
#include <string>
#include <vector>

#include <devplace/base/function_view.hpp>
#include <devplace/base/host_memory.hpp>
#include <devplace/base/joined.hpp>
#include <devplace/base/seed.hpp>
#include <devplace/nn/detail/initial_state.hpp>
#include <devplace/nn/draw_elements.hpp>
#include <devplace/nn/init.hpp>
#include <devplace/runtime/engine.hpp>

namespace devplace::nn {

/// The result of `check_gradients`: the largest difference between backward and central differences, relative to max(1,
/// |gradient|), and where it occurs (`0.weight[7]`, `input[3]`).
struct gradient_check {
  double worst = 0;         ///< the largest relative difference; 0 if nothing differs
  std::string where = "";   ///< location of that difference
  std::size_t checked = 0;  ///< number of gradients compared
};

}  // namespace devplace::nn

namespace devplace::nn::detail {

/// Compares gradients with central differences of a function.
struct difference_check {
  devplace::detail::function_view<double&> function;  ///< writes the value for the present parameters and inputs
  double step;
  gradient_check result = {};

  void compare(double* values, const double* gradients, std::size_t count, const std::string& name) {
    for (std::size_t i = 0; i < count; ++i) {
      const double before = values[i];
      double above = 0, below = 0;
      values[i] = before + step;
      function(above);
      values[i] = before - step;
      function(below);
      values[i] = before;
      const double difference = (above - below) / (2 * step);
      const double relative = std::abs(gradients[i] - difference) / std::max(1.0, std::abs(gradients[i]));
      ++result.checked;
      if (!std::isnan(result.worst) && !(relative <= result.worst)) {  // NaN counts as the worst
        result.worst = relative;
        result.where = devplace::detail::joined({name, "[", i, "]"});
      }
    }
  }
};

}  // namespace devplace::nn::detail

namespace devplace::nn::inline DEVPLACE_CONFIGURATION {

/// Compares a network's (or a single layer's) backward pass with central differences of its forward pass, in double on
/// the CPU: for every parameter and every input of `samples` random samples, with a random gradient of the output.
/// Tests layers of your own: a correct backward gives a `worst` of about 1e-8, unless a sample lies on a kink (relu at
/// 0). Random layers draw equal numbers in every pass.
template <class Net> gradient_check check_gradients(seed start, std::size_t samples = 3, double step = 1e-6) try {
  using run = runtime::engine<Net, double, backend::cpu>;
  using plan = runtime::network_plan<Net>;
  static_assert(detail::is_layer<typename plan::wrong_layer>, DEVPLACE_DETAIL_NOT_A_LAYER);
  static_assert(sizeof(detail::check_layers<typename plan::first_misfit>) != 0);
  static_assert(runtime::is_trainable<typename plan::without_backward>, DEVPLACE_DETAIL_NO_BACKWARD);
  static_assert(!plan::own_input_elements,
                "devplace: check_gradients: the network's first layer takes elements of its own type (input_element), "
                "such as indices, which have no differences; check the network of the layers behind it.");
  const std::size_t inputs = samples * detail::sample_size<typename run::input_extents>;
  const std::size_t outputs = samples * detail::sample_size<typename run::output_extents>;
  const auto random = [&](std::size_t n, const char* name) {
    std::vector<double> values(n);
    draw_elements<backend::cpu>(0, values.data(), n, init::uniform(1), start.value, name);
    return values;
  };
  std::vector<double> x = random(inputs, "input");
  const std::vector<double> dy = random(outputs, "output gradient");
  std::vector<double> dx(inputs);
  std::vector<double> workspace(run::workspace_bytes(samples, mode::train) / sizeof(double));

  const int place[] = {0};
  const auto state = detail::drawn_state<Net, double, backend::cpu>(place, start.value);
  runtime::require_gradients<backend::cpu>(*state);
  const auto& r = state->replicas.front();
  const auto p = run::make_pass(r, workspace.data(), samples, mode::train, {start.value, 0, 0, 0});
  run::forward(p, x.data());
  run::backward(p, r, x.data(), dy.data(), false, dx.data());

  const auto weighted_sum = [&](double& sum) {
    run::forward(p, x.data());
    sum = 0;
    for (std::size_t i = 0; i < outputs; ++i) sum += dy[i] * run::output_of(p)[i];
  };
  detail::difference_check check{devplace::detail::function_view<double&>(weighted_sum), step};
  plan::visit_parameters([&](const std::string& name, const parameter& entry, std::size_t offset) {
    if (offset < plan::parameter_elements)  // trained parameters only
      check.compare(r.parameter_data() + offset, r.gradient_data() + offset, entry.shape.size(), name);
  });
  check.compare(x.data(), dx.data(), inputs, "input");
  return check.result;
} catch (const std::bad_alloc&) {
  devplace::detail::fail_without_memory("the arrays of check_gradients");
}

}  // namespace devplace::nn::inline DEVPLACE_CONFIGURATION

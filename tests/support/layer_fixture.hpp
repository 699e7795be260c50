// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include <devplace/nn/sequential.hpp>
#include <devplace/runtime/engine.hpp>

#include "support/catch.hpp"
#include "support/fixture.hpp"

namespace devplace::test {

/// Returns whether the relative error is at most 1e-5 in float and 1e-12 in double, relative to max(1, |expected|); NaN
/// equals NaN.
template <class T> bool agrees(T value, T expected) {
  if (std::isnan(expected) || std::isnan(value)) return std::isnan(expected) && std::isnan(value);
  const double tolerance = std::is_same_v<T, float> ? 1e-5 : 1e-12;
  return std::abs(static_cast<double>(value) - static_cast<double>(expected)) <=
         tolerance * std::max(1.0, std::abs(static_cast<double>(expected)));
}

/// Reads all elements of a fixture, whose extents must be those given (dynamic ones may be any).
template <class T, class Extents> std::vector<T> read_all(const std::string& relative) {
  const auto x = read_fixture<T, dextents<Extents::rank>>(relative);  // instantiated once per rank
  if constexpr (Extents::is_static) REQUIRE(x.extents() == Extents{});
  return std::vector<T>(x.data(), x.data() + x.size());
}

template <class T>
void require_agreement(const std::vector<T>& values, const std::vector<T>& expected, const std::string& what) {
  REQUIRE(values.size() == expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    INFO(what << "[" << i << "]: " << values[i] << ", PyTorch " << expected[i]);
    REQUIRE(agrees(values[i], expected[i]));
  }
}

/// Runs a network forward and backward on the CPU from a fixture's input, parameters and upstream gradient, and
/// compares the output and all gradients with PyTorch's. `names` are the fixture's names of the parameters, in order;
/// `Input` and `Output` are the extents of the fixture's arrays. Names without a folder are in layers/.
template <class Net, class T, class Input, class Output>
void compare_with_pytorch(const std::string& name, const std::vector<std::string>& names) {
  using run = runtime::engine<Net, T, backend::cpu>;
  using plan = runtime::network_plan<Net>;
  const std::string group = name.find('/') == std::string::npos ? "layers/" : "";
  const std::string folder = group + name + (std::is_same_v<T, float> ? "/f32/" : "/f64/");
  const std::vector<T> x = read_all<T, Input>(folder + "x");
  const std::vector<T> dy = read_all<T, Output>(folder + "dy");
  const std::size_t batch = Input::static_extent(0);

  constexpr int place[] = {0};
  const auto state = runtime::empty_state<T, backend::cpu>(place, {plan::parameter_elements, plan::buffer_elements});
  runtime::require_gradients<backend::cpu>(*state);
  const auto& r = state->replicas.front();
  std::size_t index = 0;
  plan::for_each_parameter([&](const std::string&, auto entry, std::size_t offset) {
    using extents_type = typename decltype(entry)::extents;
    const auto values = read_all<T, extents_type>(folder + names.at(index++));
    std::copy(values.begin(), values.end(), r.parameter_data() + offset);
  });
  REQUIRE(index == names.size());

  std::vector<T> workspace(run::workspace_bytes(batch, nn::mode::train) / sizeof(T));
  std::vector<T> dx(x.size());
  const auto p = run::make_pass(r, workspace.data(), batch, nn::mode::train, {});
  run::forward(p, x.data());
  const T* y = run::output_of(p);
  require_agreement(std::vector<T>(y, y + dy.size()), read_all<T, Output>(folder + "y"), name + ": y");
  run::backward(p, r, x.data(), dy.data(), false, dx.data());
  require_agreement(dx, read_all<T, Input>(folder + "dx"), name + ": dx");
  index = 0;
  plan::for_each_parameter([&](const std::string&, auto entry, std::size_t offset) {
    using extents_type = typename decltype(entry)::extents;
    const T* gradient = r.gradient_data() + offset;
    require_agreement(std::vector<T>(gradient, gradient + entry.info.shape.size()),
                      read_all<T, extents_type>(folder + "d" + names.at(index)), name + ": d" + names.at(index));
    ++index;
  });

  // Prediction uses another workspace layout and must give an equal output.
  std::vector<T> predict_workspace(run::workspace_bytes(batch, nn::mode::predict) / sizeof(T));
  const auto q = run::make_pass(r, predict_workspace.data(), batch, nn::mode::predict, {});
  run::forward(q, x.data());
  require_agreement(std::vector<T>(run::output_of(q), run::output_of(q) + dy.size()), std::vector<T>(y, y + dy.size()),
                    name + ": predict");
}

/// Calls compare_with_pytorch in float and in double.
template <class Net, class Input, class Output>
void compare_with_pytorch_in_both(const std::string& name, const std::vector<std::string>& names = {}) {
  compare_with_pytorch<Net, float, Input, Output>(name, names);
  compare_with_pytorch<Net, double, Input, Output>(name, names);
}

}  // namespace devplace::test

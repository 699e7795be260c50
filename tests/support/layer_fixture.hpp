// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/base/function_view.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/runtime/engine.hpp>

#include "support/catch.hpp"
#include "support/fixture.hpp"
#include "support/sanitizers.hpp"

namespace devplace::test {

/// Returns whether the relative error is at most 1e-5 in float and 1e-12 in double, relative to max(1, |expected|); NaN
/// equals NaN.
template <class T> bool agrees(T value, T expected) {
  if (std::isnan(expected) || std::isnan(value)) return std::isnan(expected) && std::isnan(value);
  const double tolerance = std::is_same_v<T, float> ? 1e-5 : 1e-12;
  return std::abs(static_cast<double>(value) - static_cast<double>(expected)) <=
         tolerance * std::max(1.0, std::abs(static_cast<double>(expected)));
}

/// Reads all elements of a fixture of these extents, at most four; those that are `dyn` may be any.
template <class T, std::size_t Rank = 1>
std::vector<T> read_all(const std::string& relative, std::span<const std::size_t> expected) {
  if constexpr (Rank < 4)
    if (expected.size() != Rank) return read_all<T, Rank + 1>(relative, expected);
  REQUIRE(expected.size() == Rank);
  const auto x = read_fixture<T, dextents<Rank>>(relative);
  for (std::size_t axis = 0; axis < Rank; ++axis)
    if (expected[axis] != dyn) REQUIRE(x.extent(axis) == expected[axis]);
  return {x.data(), x.data() + x.size()};
}

/// The extents of a type; dynamic ones are `dyn`.
template <class Extents>
inline constexpr auto extents_of_type = []<std::size_t... Axis>(std::index_sequence<Axis...>) {
  return std::array<std::size_t, Extents::rank>{Extents::static_extent(Axis)...};
}(std::make_index_sequence<Extents::rank>{});

template <class T, class Extents> std::vector<T> read_all(const std::string& relative) {
  return read_all<T>(relative, extents_of_type<Extents>);
}

template <class T>
void require_agreement(const std::vector<T>& values, const std::vector<T>& expected, const std::string& what) {
  REQUIRE(values.size() == expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    INFO(what << "[" << i << "]: " << values[i] << ", PyTorch " << expected[i]);
    REQUIRE(agrees(values[i], expected[i]));
  }
}

/// The functions and sizes of a network on the CPU, so that a comparison is compiled once for all networks. The extents
/// are the fixture's, with the batch.
template <class T> struct network_functions {
  using parameter_visitor = detail::function_view<const std::string&, const nn::parameter&, std::size_t>;
  using replica = runtime::replica<T>;
  using pass = runtime::pass<T>;

  std::span<const std::size_t> input, output;
  std::size_t parameters, buffers;
  void (*visit_parameters)(const parameter_visitor&);
  std::size_t (*workspace_bytes)(std::size_t, nn::mode);
  pass (*make_pass)(const replica&, void*, std::size_t, nn::mode, const runtime::random_key&);
  void (*forward)(const pass&, const T*);
  T* (*output_of)(const pass&);
  void (*backward)(const pass&, const replica&, const T*, const T*, bool, T*, const runtime::after_layer*);
};

template <class T>
void compare_with_pytorch(const network_functions<T>& net, const std::string& name,
                          const std::vector<std::string>& names) {
  using parameter_visitor = typename network_functions<T>::parameter_visitor;
  const std::string group = name.find('/') == std::string::npos ? "layers/" : "";
  const std::string folder = group + name + (std::is_same_v<T, float> ? "/f32/" : "/f64/");
  const std::vector<T> x = read_all<T>(folder + "x", net.input);
  const std::vector<T> dy = read_all<T>(folder + "dy", net.output);
  const std::size_t batch = net.input[0];

  constexpr int place[] = {0};
  const auto state = runtime::empty_state<T, backend::cpu>(place, {net.parameters, net.buffers});
  runtime::require_gradients<backend::cpu>(*state);
  const auto& r = state->replicas.front();
  std::size_t index = 0;
  const auto read_parameter = [&](const std::string& file, const nn::parameter_shape& shape) {
    return read_all<T>(folder + file, {shape.extent, shape.rank});
  };
  const auto set = [&](const std::string&, const nn::parameter& entry, std::size_t offset) {
    const auto values = read_parameter(names.at(index++), entry.shape);
    std::copy(values.begin(), values.end(), r.parameter_data() + offset);
  };
  net.visit_parameters(parameter_visitor(set));
  REQUIRE(index == names.size());

  std::vector<T> workspace(net.workspace_bytes(batch, nn::mode::train) / sizeof(T));
  std::vector<T> dx(x.size());
  const auto p = net.make_pass(r, workspace.data(), batch, nn::mode::train, {});
  net.forward(p, x.data());
  const T* y = net.output_of(p);
  require_agreement(std::vector<T>(y, y + dy.size()), read_all<T>(folder + "y", net.output), name + ": y");
  net.backward(p, r, x.data(), dy.data(), false, dx.data(), nullptr);
  require_agreement(dx, read_all<T>(folder + "dx", net.input), name + ": dx");
  index = 0;
  const auto compare = [&](const std::string&, const nn::parameter& entry, std::size_t offset) {
    const std::string file = "d" + names.at(index++);
    const T* gradient = r.gradient_data() + offset;
    require_agreement(std::vector<T>(gradient, gradient + entry.shape.size()), read_parameter(file, entry.shape),
                      name + ": " + file);
  };
  net.visit_parameters(parameter_visitor(compare));

  // Prediction uses another workspace layout and must give an equal output.
  std::vector<T> predict_workspace(net.workspace_bytes(batch, nn::mode::predict) / sizeof(T));
  const auto q = net.make_pass(r, predict_workspace.data(), batch, nn::mode::predict, {});
  net.forward(q, x.data());
  require_agreement(std::vector<T>(net.output_of(q), net.output_of(q) + dy.size()), std::vector<T>(y, y + dy.size()),
                    name + ": predict");
}

/// Runs a network forward and backward on the CPU from a fixture's input, parameters and upstream gradient, and
/// compares the output and all gradients with PyTorch's. `names` are the fixture's names of the parameters, in order;
/// `Input` and `Output` are the extents of the fixture's arrays. Names without a folder are in layers/.
template <class Net, class T, class Input, class Output>
void compare_with_pytorch(const std::string& name, const std::vector<std::string>& names = {}) {
  using run = runtime::engine<Net, T, backend::cpu>;
  using plan = runtime::network_plan<Net>;
  compare_with_pytorch<T>({.input = extents_of_type<Input>,
                           .output = extents_of_type<Output>,
                           .parameters = plan::parameter_elements,
                           .buffers = plan::buffer_elements,
                           .visit_parameters = &plan::visit_parameters,
                           .workspace_bytes = &run::workspace_bytes,
                           .make_pass = &run::make_pass,
                           .forward = &run::forward,
                           .output_of = &run::output_of,
                           .backward = &run::backward},
                          name, names);
}

/// Calls compare_with_pytorch in float and in double; under sanitizers in double, in which check_gradients instantiates
/// the layers, too. Tests of a layer's options call it for the plain or the most general layer, and
/// compare_with_pytorch in double for the others, because options and types are independent.
template <class Net, class Input, class Output>
void compare_with_pytorch_in_both(const std::string& name, const std::vector<std::string>& names = {}) {
  if constexpr (!support::sanitized) compare_with_pytorch<Net, float, Input, Output>(name, names);
  compare_with_pytorch<Net, double, Input, Output>(name, names);
}

}  // namespace devplace::test

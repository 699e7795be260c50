// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <devplace/base/type_text.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/runtime/network.hpp>

namespace devplace::nn {

/// Numbers about a layer of a network.
struct layer_summary {
  std::string name;                 ///< prefix of the parameters' names, as in PyTorch: `0`, `layer1.0.fc1`
  std::string type;                 ///< the compiler's name of the type, without namespaces
  std::vector<std::size_t> output;  ///< extents of one sample
  std::size_t parameters;           ///< number of elements
  std::size_t frozen;               ///< number of elements of `parameters` that are not trained
  std::size_t buffers;              ///< number of elements
  std::size_t flops;                ///< operations in products for one sample: 2 for each multiply-add
};

namespace detail {

/// Removes devplace's namespaces from a type's name, but no namespaces of the program that end in the same letters.
inline std::string short_type_text(std::string text) {
  const auto in_name = [](char c) {
    return c == '_' || c == ':' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
  };
  for (const std::string_view space : {"devplace::", "nn::", "detail::"})
    for (std::size_t at = 0; (at = text.find(space, at)) != std::string::npos;) {
      if (at == 0 || !in_name(text[at - 1]))
        text.erase(at, space.size());
      else
        ++at;
    }
  return text;
}

}  // namespace detail

/// Returns the layers of a network in order: `layer_summaries<net>()`. Layers within residuals and branches have the
/// path as their name; a residual's input is not a layer. FLOPs of a prediction are the sum of
/// - linear<In, Out>: 2 * In * Out for each row;
/// - convolutions: 2 * (In / groups) * (window elements) for each output element;
/// - attention over T positions of width W: 8 * T * W * W for projections, 4 * T * T * W for scores and values;
/// - a program's own layers: 2 * `multiply_adds`, if they have this member.
/// Biases, activations, normalizations and poolings do not count.
template <class Net> std::vector<layer_summary> layer_summaries() {
  std::vector<layer_summary> layers;
  runtime::network_plan<Net>::for_each_layer([&]<class Plan>(const std::string& prefix, Plan) {
    layer_summary layer{prefix.substr(0, prefix.empty() ? 0 : prefix.size() - 1),
                        detail::short_type_text(devplace::detail::type_text<typename Plan::layer_type>()),
                        {},
                        Plan::own_parameters,
                        Plan::frozen ? Plan::own_parameters : 0,
                        Plan::own_buffers,
                        2 * Plan::multiply_adds};
    for (std::size_t axis = 0; axis < Plan::output::rank; ++axis)
      layer.output.push_back(Plan::output::static_extent(axis));
    layers.push_back(std::move(layer));
  });
  return layers;
}

}  // namespace devplace::nn

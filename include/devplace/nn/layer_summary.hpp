// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <devplace/nn/sequential.hpp>
#include <devplace/place/detail/type_text.hpp>
#include <devplace/runtime/network.hpp>

namespace devplace::nn {

/// A layer of a network, in numbers.
struct layer_summary {
  std::string name;                 ///< in the names of its parameters, as PyTorch's: `0`, `layer1.0.fc1`
  std::string type;                 ///< in the compiler's words, without namespaces
  std::vector<std::size_t> output;  ///< extents of one sample
  std::size_t parameters;           ///< number of elements
  std::size_t frozen;               ///< how many of these are not trained
  std::size_t buffers;              ///< number of elements
  std::size_t flops;                ///< of products, for one sample: 2 for each multiplication and its addition
};

namespace detail {

/// A type's text without devplace's namespaces. Those of a program's own may end as these do.
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

/// The layers of a network in their order: `layer_summaries<net>()`. Those of residuals and branches are named by the
/// way to them; a residual's input is none. FLOPs are those of products of matrices, convolutions and attention, of a
/// prediction: linear<In, Out> 2 * In * Out for each row, convolutions 2 * (In / groups) * taps for each output, and
/// attention over T positions of width W 8 * T * W * W for its projections and 4 * T * T * W for scores and values.
/// Sums with biases, activations, normalizations and poolings are not counted, nor is what layers of a program's own
/// compute unless they have a member `multiply_adds`.
template <class Net>
std::vector<layer_summary> layer_summaries() {
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

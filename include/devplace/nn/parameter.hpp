// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>

#include <devplace/nn/init.hpp>

namespace devplace::nn {

/// Maximum rank of a parameter.
inline constexpr std::size_t max_parameter_rank = 4;

/// A parameter's extents as constexpr values for a layer's table.
struct parameter_shape {
  std::size_t rank = 0;                         ///< number of axes
  std::size_t extent[max_parameter_rank] = {};  ///< only the first `rank` are used

  /// Takes at most max_parameter_rank extents: `{256, 784}`.
  constexpr parameter_shape(std::initializer_list<std::size_t> extents) {
    for (const std::size_t e : extents) extent[rank++] = e;
  }

  /// Number of elements.
  constexpr std::size_t size() const {
    std::size_t product = 1;
    for (std::size_t axis = 0; axis < rank; ++axis) product *= extent[axis];
    return product;
  }
};

/// A parameter (trained) or buffer (saved but not trained) of a layer.
struct parameter {
  const char* name;       ///< within the layer, as in PyTorch (`weight`); networks prefix the layer's position
  parameter_shape shape;  ///< extents
  initialization init = {initialization::distribution::missing};  ///< initial values
};

}  // namespace devplace::nn

namespace devplace::nn::detail {

/// The parameters of a layer that has a weight and, if `Bias`, a bias.
template <bool Bias> constexpr auto weight_and_bias(const parameter& weight, const parameter& bias) {
  if constexpr (Bias)
    return std::array{weight, bias};
  else
    return std::array{weight};
}

}  // namespace devplace::nn::detail

// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <devplace/config.hpp>

namespace ops_test {

/// An index functor as operations use it, with one body for the CPU, simulated and real devices, and plain loops.
struct bias_relu {
  float* x;
  const float* bias;
  std::size_t columns;

  DEVPLACE_HD void operator()(std::size_t i) const {
    const float y = x[i] + bias[i % columns];
    x[i] = y < 0 ? 0 : y;
  }
};

struct bias_relu_input {
  std::vector<float> values, bias;

  explicit bias_relu_input(std::size_t n) : values(n), bias(7) {
    for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<float>(i % 13) - 6;
    for (std::size_t j = 0; j < bias.size(); ++j) bias[j] = static_cast<float>(j) / 2 - 1;
  }

  bias_relu functor(float* x, const float* b) const { return {x, b, bias.size()}; }

  /// Calls the functor in a plain loop; its result is checked against the definition.
  std::vector<float> in_plain_loop() const {
    std::vector<float> result = values;
    const bias_relu f = functor(result.data(), bias.data());
    for (std::size_t i = 0; i < result.size(); ++i) f(i);
    for (std::size_t i = 0; i < result.size(); ++i)
      if (result[i] != std::max(0.0f, values[i] + bias[i % bias.size()])) return {};
    return result;
  }
};

}  // namespace ops_test

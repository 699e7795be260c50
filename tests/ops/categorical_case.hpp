// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <devplace/ops/categorical.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/tensor/copy.hpp>

#include "support/catch.hpp"
#include "support/host_values.hpp"

namespace devplace::test {

/// Compares the frequencies of 40,000 draws with the softmax of the logits of the categories that may be drawn.
template <class Where> void test_frequencies(const categorical_options& options, std::vector<bool> may_be_drawn) {
  constexpr std::size_t draws = 40000, categories = 5;
  const std::vector<double> logits{1, -0.5, 2, 0, -std::numeric_limits<double>::infinity()};
  tensor<float, extents<draws, categories>, on<cpu>> rows(extents<draws, categories>{});
  for (std::size_t i = 0; i < rows.size(); ++i) rows.data()[i] = static_cast<float>(logits[i % categories]);
  const std::vector<std::int64_t> drawn = support::values_of(categorical(to<Where>(rows), seed{5}, options));
  std::vector<double> probability(categories), count(categories);
  double sum = 0;
  for (std::size_t c = 0; c < categories; ++c)
    sum += probability[c] = may_be_drawn[c] ? std::exp(logits[c] / options.temperature) : 0;
  for (const std::int64_t c : drawn) ++count.at(static_cast<std::size_t>(c));
  for (std::size_t c = 0; c < categories; ++c) {
    const double p = probability[c] / sum, expected = p * draws;
    CAPTURE(c, p, count[c]);
    CHECK(std::abs(count[c] - expected) <= 4 * std::sqrt(expected * (1 - p)));
  }
}

template <class Where> void test_categories() {
  test_frequencies<Where>({}, {true, true, true, true, false});
  test_frequencies<Where>({.temperature = 0.5}, {true, true, true, true, false});
  test_frequencies<Where>({.temperature = 3, .top_k = 3}, {true, false, true, true, false});
}

}  // namespace devplace::test

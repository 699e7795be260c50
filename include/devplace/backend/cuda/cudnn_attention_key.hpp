// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>

#include <devplace/backend/cuda/product_key.hpp>
#include <devplace/base/joined.hpp>
#include <devplace/ops/detail/attention_arguments.hpp>

namespace devplace::detail {

/// Everything that the choice of cuDNN's engine for attention depends on.
struct attention_key {
  attention_shape shape;
  const dtype* element;  ///< bf16 or half
  bool gradient;
  float scale;  ///< factor of scores

  /// Returns all members, for comparison.
  std::array<std::uint64_t, 6> numbers() const {
    return {shape.samples,
            shape.length,
            shape.heads,
            shape.width,
            std::bit_cast<std::uint32_t>(scale),
            static_cast<std::uint64_t>(element->cudnn) << 2U | (gradient ? 2U : 0U) | (shape.causal ? 1U : 0U)};
  }
  friend bool operator<(const attention_key& a, const attention_key& b) { return a.numbers() < b.numbers(); }
};

/// Describes the key for error messages: "the gradient of causal attention (bf16; 8 samples of 512 positions, 4 heads
/// of 64 elements)".
inline std::string to_string(const attention_key& key) {
  return joined({key.gradient ? "the gradient of " : "", key.shape.causal ? "causal attention (" : "attention (",
                 key.element->name, "; ", key.shape.samples, " samples of ", key.shape.length, " positions, ",
                 key.shape.heads, " heads of ", key.shape.width, " elements)"});
}

}  // namespace devplace::detail

// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <optional>
#include <type_traits>

#include <devplace/base/refusal.hpp>
#include <devplace/base/seed.hpp>

namespace devplace {

/// The seed of a random order, or none for the order of the data.
struct shuffle_seed : std::optional<seed> {
  /// No seed, or `chosen`.
  ///@{
  shuffle_seed() = default;
  shuffle_seed(std::nullopt_t) {}
  shuffle_seed(seed chosen) : std::optional<seed>(chosen) {}
  shuffle_seed(const std::optional<seed>& chosen) : std::optional<seed>(chosen) {}
  ///@}
  /// Whether both give the same order. A template, so that it does not compete with std::optional's operators.
  template <std::same_as<shuffle_seed> Shuffle> friend bool operator==(const Shuffle& a, const Shuffle& b) {
    return static_cast<const std::optional<seed>&>(a) == static_cast<const std::optional<seed>&>(b);
  }
  /// Rejects numbers, and PyTorch's `true`.
  template <class Number>
    requires std::is_arithmetic_v<Number>
  shuffle_seed(Number) {
    static_assert(detail::accepted<Number>,
                  "devplace: a random order is chosen by a seed, not by true or a number: seed{2}, as in {.shuffle = "
                  "seed{2}}.");
  }
};

}  // namespace devplace

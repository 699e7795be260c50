// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <optional>
#include <type_traits>

#include <devplace/place/detail/refusal.hpp>
#include <devplace/place/seed.hpp>

namespace devplace {

/// The seed of a random order, or none for the order of the data. Numbers, and PyTorch's `true`, are refused.
struct shuffle_seed : std::optional<seed> {
  /// None, or this one.
  ///@{
  shuffle_seed() = default;
  shuffle_seed(std::nullopt_t) {}
  shuffle_seed(seed chosen) : std::optional<seed>(chosen) {}
  shuffle_seed(const std::optional<seed>& chosen) : std::optional<seed>(chosen) {}
  ///@}
  /// Whether both are the same order. A template for two of this type alone, beside those of std::optional.
  template <std::same_as<shuffle_seed> Shuffle>
  friend bool operator==(const Shuffle& a, const Shuffle& b) {
    return static_cast<const std::optional<seed>&>(a) == static_cast<const std::optional<seed>&>(b);
  }
  /// Refused.
  template <class Number>
    requires std::is_arithmetic_v<Number> shuffle_seed(Number) {
      static_assert(detail::accepted<Number>,
                    "devplace: a random order is chosen by a seed, not by true or a number: seed{2}, as in {.shuffle = "
                    "seed{2}}.");
    }
};

namespace detail {

/// The type of PyTorch's options: one sentence for those who look for them.
struct option_of_pytorch {
  constexpr option_of_pytorch() = default;
  template <class T>
  constexpr option_of_pytorch(const T&) {
    static_assert(accepted<T>,
                  "devplace: a loader's options are given by name, and batch_size and num_workers are named batch and "
                  "workers: {.batch = 64, .shuffle = seed{2}, .workers = 4}.");
  }
};

}  // namespace detail

}  // namespace devplace

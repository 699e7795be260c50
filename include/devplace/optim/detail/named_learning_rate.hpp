// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/place/detail/refusal.hpp>

namespace devplace::optim::detail {

/// The type of torch.optim's `lr`, the last member of each rule: one sentence for those who look for it.
struct named_learning_rate {
  constexpr named_learning_rate() = default;
  template <class T>
  constexpr named_learning_rate(const T&) {
    static_assert(devplace::detail::accepted<T>,
                  "devplace: the hyperparameters are given by name, and lr is named learning_rate: "
                  "optim::adam{.learning_rate = 1e-3}.");
  }
  friend constexpr bool operator==(named_learning_rate, named_learning_rate) = default;
};

}  // namespace devplace::optim::detail

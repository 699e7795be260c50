// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>

#include <devplace/optim/option_range.hpp>

namespace devplace::train::detail {

/// Validates and returns the options of a constructor that accepts any type. For a bare number, the compiler then
/// prints one sentence and not a list of candidates.
template <class Named, class Options> Named named_options([[maybe_unused]] const Options& options) {
  constexpr bool by_name = std::is_same_v<Options, Named>;
  static_assert(by_name,
                "devplace: options are given by name: early_stopping stopping{model, {.patience = 3}}, moving_average "
                "average{model, {.decay = 0.999}}, checkpoints saved{\"run7\", {.keep = 3}}.");
  if constexpr (by_name) {
    optim::validate(options);
    return options;
  } else {
    return {};
  }
}

}  // namespace devplace::train::detail

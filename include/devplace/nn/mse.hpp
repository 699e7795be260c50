// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/nn/loss.hpp>
#include <devplace/ops/mse.hpp>

namespace devplace::nn {

/// Squared differences between output and target, both [batch, ...]: the mean over all elements, or the sum.
struct mse {
  reduction reduce = reduction::mean;  ///< sum, or the mean over all elements

  /// The loss on one place; it has no options that need memory there.
  template <class T>
  struct bound {
    /// Losses, their sums and the gradient for one place's part of a batch; `rows` is workspace.
    template <class Sums, class Gradient, class Rows, class Output, class Target,
              devplace::detail::configured = devplace::detail::configuration>
    void into(const Sums& sums, const Gradient& gradient, const Rows& rows, const Output& output,
              const Target& target) const {
      mse_into(sums, gradient, rows, output, target);
    }
  };

  /// Binds the loss to one place. Throws argument_error for a reduction other than mean and sum.
  template <class T, class Backend>
  bound<T> bind(int) const {
    if (reduce != reduction::mean && reduce != reduction::sum)
      throw argument_error("mse: reduce must be reduction::mean or reduction::sum.");
    return {};
  }

  /// Loss and gradient: `auto [loss, gradient] = nn::mse{}(output, target)`.
  template <class Output, class Target, devplace::detail::configured = devplace::detail::configuration>
  auto operator()(const Output& output, const Target& target) const {
    return evaluate_loss(*this, output, target);
  }
};
static_assert(loss<mse>);

}  // namespace devplace::nn

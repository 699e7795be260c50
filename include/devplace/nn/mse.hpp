// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/nn/loss.hpp>
#include <devplace/ops/mse.hpp>

namespace devplace::nn {

/// Squared differences between output and target, both [batch, ...]: torch.nn.MSELoss.
struct mse {
  reduction reduce = reduction::mean;  ///< sum, or the mean over all elements

  /// Members that nn::loss names, and a list of the options for comparison between processes.
  ///@{
  static constexpr bool is_of_elements = true;
  static void for_each_option(auto& self, auto&& f) { f("reduce", self.reduce); }

  /// The loss on one place.
  template <class T> struct bound {
    using overwrites_output = bound;  ///< the gradient may be the output's memory
    /// Computes losses, their sums and the gradient of one place's part of a batch; `rows` is workspace.
    DEVPLACE_CONFIGURED auto into(const auto& sums, const auto& gradient, const auto& rows, const auto& output,
                                  const auto& target) const {
      mse_into(sums, gradient, rows, output, target);
    }
  };

  template <class T, class Backend> bound<T> bind(int) const {
    detail::require_mean_or_sum("mse", reduce);
    return {};
  }
  ///@}

  /// Computes loss and gradient: `auto [loss, gradient] = nn::mse{}(output, target)`.
  template <class Output, class Target>
  DEVPLACE_CONFIGURED auto operator()(const Output& output, const Target& target) const {
    using output_type = devplace::detail::evaluated_value_t<const Output&>;
    using target_type = devplace::detail::evaluated_value_t<const Target&>;
    constexpr bool same_rank = detail::same_ranks<output_type, target_type>,
                   same_extents = detail::same_sizes<output_type, target_type>;
    static_assert(same_rank, DEVPLACE_DETAIL_MSE_OTHER_RANK);
    static_assert(same_extents, DEVPLACE_DETAIL_MSE_OTHER_EXTENTS);
    if constexpr (same_rank && same_extents)
      return evaluate_loss(*this, output, target);
    else
      return detail::no_loss();
  }
};

}  // namespace devplace::nn

// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstddef>

#include <devplace/nn/detail/pointwise_loss.hpp>

namespace devplace::nn::detail {

template <class T> struct absolute_difference {
  DEVPLACE_HD T loss(T x, T t, std::size_t) const { return std::fabs(x - t); }
  DEVPLACE_HD T derivative(T x, T t, std::size_t) const { return sign(x - t); }
};

}  // namespace devplace::nn::detail

namespace devplace::nn {

/// Absolute differences between output and target, both [batch, ...]: torch.nn.L1Loss. The gradient at 0 is 0.
struct l1 {
  reduction reduce = reduction::mean;  ///< sum, or the mean over all elements

  /// Members that nn::loss names, and a list of the options for comparison between processes.
  ///@{
  static constexpr bool is_of_elements = true;
  static void for_each_option(auto& self, auto&& f) { f("reduce", self.reduce); }

  template <class T> using bound = detail::bound_formula<T, detail::absolute_difference<T>>;

  template <class T, class Backend> bound<T> bind(int) const {
    detail::require_mean_or_sum("l1", reduce);
    return {};
  }
  ///@}

  /// Computes loss and gradient: `auto [loss, gradient] = nn::l1{}(output, target)`.
  DEVPLACE_CONFIGURED auto operator()(const auto& output, const auto& target) const {
    return evaluate_loss(*this, output, target);
  }
};

}  // namespace devplace::nn

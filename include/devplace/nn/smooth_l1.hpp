// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstddef>

#include <devplace/nn/detail/pointwise_loss.hpp>
#include <devplace/tensor/detail/number_options.hpp>
#include <devplace/tensor/dtype.hpp>

namespace devplace::nn::detail {

template <class T> struct smooth_difference {
  T beta;

  DEVPLACE_HD T loss(T x, T t, std::size_t) const {
    const T size = std::fabs(x - t);
    return devplace::detail::chosen(size < beta, size * (size / beta) / 2, size - beta / 2);
  }
  DEVPLACE_HD T derivative(T x, T t, std::size_t) const {
    const T difference = x - t;
    return devplace::detail::chosen(std::fabs(difference) < beta, difference / beta, sign(difference));
  }
};

}  // namespace devplace::nn::detail

namespace devplace::nn {

/// d^2 / (2 beta) where |d| < beta and |d| - beta / 2 elsewhere, with the difference d between output and target, both
/// [batch, ...]: torch.nn.SmoothL1Loss. Equals l1 for beta 0, else the Huber loss with delta = beta,
/// divided by beta.
struct smooth_l1 {
  double beta = 1;                     ///< end of the quadratic part, at least 0
  reduction reduce = reduction::mean;  ///< sum, or the mean over all elements

  /// Members that nn::loss names, and a list of the options for comparison between processes.
  ///@{
  static constexpr bool is_of_elements = true;
  static void for_each_option(auto& self, auto&& f) {
    f("beta", self.beta);
    f("reduce", self.reduce);
  }

  template <class T> using bound = detail::bound_formula<T, detail::smooth_difference<T>>;

  template <class T, class Backend> bound<T> bind(int) const {
    detail::require_mean_or_sum("smooth_l1", reduce);
    constexpr double largest = -static_cast<double>(devplace::detail::lowest_number<T>);
    constexpr devplace::detail::number_range range{[](double x) { return x >= 0 && x <= largest; },
                                                   "at least 0 and a finite number of the output's type"};
    range.require(beta, "smooth_l1", "beta");
    return {{static_cast<T>(beta)}};
  }
  ///@}

  /// Computes loss and gradient: `auto [loss, gradient] = nn::smooth_l1{}(output, target)`.
  DEVPLACE_CONFIGURED auto operator()(const auto& output, const auto& target) const {
    return evaluate_loss(*this, output, target);
  }
};

}  // namespace devplace::nn

// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/nn/detail/pointwise_loss.hpp>
#include <devplace/ops/detail/logarithm.hpp>

namespace devplace::nn::detail {

/// Formula of p (log p - x), where the target is p or, with `log_target`, log p; 0 if p is 0.
template <class T> struct divergence {
  bool log_target;

  DEVPLACE_HD T loss(T x, T t, std::size_t) const {
    const T p = probability(t), logarithm = chosen(log_target, t, devplace::detail::fast_log(t));
    return chosen(p == 0, T{0}, p * (logarithm - x));
  }
  DEVPLACE_HD T derivative(T, T t, std::size_t) const { return -probability(t); }

 private:
  DEVPLACE_HD T probability(T t) const { return chosen(log_target, devplace::detail::fast_exp(t), t); }
};

}  // namespace devplace::nn::detail

namespace devplace::nn {

/// The Kullback-Leibler divergence, the sum of p (log p - x): torch.nn.KLDivLoss. Targets p are probabilities, and
/// outputs x are *logarithms* of probabilities from nn::log_softmax, both [batch, ...]. Elements with p = 0 contribute
/// 0 for every x.
struct kl_div {
  /// Trainers reject networks that end in softmax, sigmoid or linear.
  static constexpr bool takes_log_probabilities = true;

  bool log_target = false;             ///< whether the targets are logarithms
  bool batchmean = false;              ///< true: mean over samples (the divergence); false: mean over all elements
  reduction reduce = reduction::mean;  ///< sum, or a mean

  /// Members that nn::loss names, and a list of the options for comparison between processes.
  ///@{
  static void for_each_option(auto& self, auto&& f) {
    f("log_target", self.log_target);
    f("batchmean", self.batchmean);
    f("reduce", self.reduce);
  }

  template <class T> using bound = detail::bound_formula<T, detail::divergence<T>>;

  template <class T, class Backend> bound<T> bind(int) const {
    detail::require_mean_or_sum("kl_div", reduce);
    return {{log_target}, !batchmean};
  }
  ///@}

  /// Computes loss and gradient: `auto [loss, gradient] = nn::kl_div{}(output, target)`.
  DEVPLACE_CONFIGURED auto operator()(const auto& output, const auto& target) const {
    return evaluate_loss(*this, output, target);
  }
};

}  // namespace devplace::nn

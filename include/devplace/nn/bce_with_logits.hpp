// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/nn/detail/pointwise_loss.hpp>
#include <devplace/nn/loss.hpp>
#include <devplace/ops/detail/logarithm.hpp>

DEVPLACE_UNFUSED_BEGIN
namespace devplace::nn::detail {

/// Formula of -(p t log s + (1 - t) log(1 - s)) with the weight p of positive targets and s = 1 / (1 + exp(-x)).
/// Computes both logarithms from x, which avoids overflow and cancellation. Weights are 1 if `Weighted` is false, or if
/// the pointer to these weights is null.
template <class T, bool Weighted> struct binary_cross_entropy {
  const T* positive;
  const T* weights;
  std::size_t positive_stride;  // 0: one weight for all elements
  std::size_t weight_stride;

  DEVPLACE_HD T loss(T x, T t, std::size_t i) const {
    const T tail = devplace::detail::log_of_one_plus(devplace::detail::fast_exp(-std::fabs(x)));
    const T minus_log_s = tail + chosen(x < 0, -x, T{0});    // -log s
    const T minus_log_rest = tail + chosen(x < 0, T{0}, x);  // -log(1 - s)
    return scaled(product(factor_of_positive(i) * t, minus_log_s) + product(1 - t, minus_log_rest), i);
  }
  DEVPLACE_HD T derivative(T x, T t, std::size_t i) const {
    const T e = devplace::detail::fast_exp(-std::fabs(x));
    const T larger = 1 / (1 + e), smaller = e * larger;
    const T s = chosen(x < 0, smaller, larger), rest = chosen(x < 0, larger, smaller);
    return scaled((1 - t) * s - factor_of_positive(i) * t * rest, i);
  }

 private:
  /// Returns factor * logarithm; 0 if the factor is 0, even for an infinite logarithm.
  DEVPLACE_HD static T product(T factor, T logarithm) { return chosen(factor == 0, T{0}, factor * logarithm); }
  DEVPLACE_HD T factor_of_positive([[maybe_unused]] std::size_t i) const {
    if constexpr (Weighted)
      if (positive != nullptr) return positive[i * positive_stride];
    return T{1};
  }
  DEVPLACE_HD T scaled(T value, [[maybe_unused]] std::size_t i) const {
    if constexpr (Weighted)
      if (weights != nullptr) return weights[i * weight_stride] * value;
    return value;
  }
};

}  // namespace devplace::nn::detail
DEVPLACE_UNFUSED_END

namespace devplace::nn {

/// Binary cross-entropy between logits and targets in 0..1, both [batch, ...]: torch.nn.BCEWithLogitsLoss. Each element
/// is an independent decision; to choose one of several classes, use cross_entropy.
struct bce_with_logits {
  /// See nn::loss; trainers reject networks that end in softmax or sigmoid.
  ///@{
  static constexpr bool takes_logits = true;
  static constexpr bool is_of_elements = true;
  ///@}

  std::vector<double> pos_weight = {};  ///< factors of positive targets: one per element of a sample, or one for all
  /// Factors of losses: one per element of a sample, or one for all. A mean divides by the number of elements, not by
  /// the sum of the factors.
  std::vector<double> weights = {};
  reduction reduce = reduction::mean;  ///< sum, or the mean over all elements

  /// Lists the options for comparison between processes.
  static void for_each_option(auto& self, auto&& f) {
    f("pos_weight", self.pos_weight);
    f("weights", self.weights);
    f("reduce", self.reduce);
  }

  /// Throws argument_error for weights of single elements of a sample, of which a place has a part.
  void require_equal_elements() const {
    for (const auto& [option, values] : {std::pair{"pos_weight", &pos_weight}, std::pair{"weights", &weights}})
      if (values->size() > 1)
        throw argument_error({"bce_with_logits: ", option, " has ", values->size(),
                              " values, and each place of a model in parts has some rows of a sample; give one value "
                              "for all logits, or train on one place."});
  }

  /// The loss on one place, with the weights in that place's memory.
  template <class T> struct bound {
    using overwrites_output = bound;     ///< the gradient may be the output's memory
    detail::placed_weights<T> positive;  ///< weights of positive targets
    detail::placed_weights<T> weights;   ///< weights of all targets

    /// Computes losses, their sums and the gradient of one place's part of a batch; `rows` is workspace. Throws
    /// argument_error if the number of weights is not 0, 1 or the number of elements of a sample.
    DEVPLACE_CONFIGURED auto into(const auto& sums, const auto& gradient, const auto& rows, const auto& logits,
                                  const auto& targets) const {
      const std::size_t elements = logits.extents().stride(0);
      check("pos_weight", positive.count, elements);
      check("weights", weights.count, elements);
      const auto run = [&](auto weighted) {
        detail::pointwise_into(sums, gradient, rows, logits, targets,
                               detail::binary_cross_entropy<T, decltype(weighted)::value>{
                                   positive.data(), weights.data(), positive.count > 1, weights.count > 1});
      };
      if (positive.count == 0 && weights.count == 0)
        run(std::false_type{});
      else
        run(std::true_type{});
    }

   private:
    static void check(const char* option, std::size_t count, std::size_t elements) {
      if (count > 1 && count != elements)
        throw argument_error({"bce_with_logits: ", option, " has ", count, " values and a sample has ", elements,
                              " logits; give one value for each logit, or one for all."});
    }
  };

  /// Binds the loss to one place. Throws argument_error for a reduction other than mean and sum.
  template <class T, class Backend> bound<T> bind(int ordinal) const {
    detail::require_mean_or_sum("bce_with_logits", reduce);
    return {detail::place_weights<T, Backend>(ordinal, pos_weight),
            detail::place_weights<T, Backend>(ordinal, weights)};
  }

  /// Computes loss and gradient: `auto [loss, gradient] = nn::bce_with_logits{}(logits, targets)`.
  DEVPLACE_CONFIGURED auto operator()(const auto& logits, const auto& targets) const {
    return evaluate_loss(*this, logits, targets);
  }
};

}  // namespace devplace::nn

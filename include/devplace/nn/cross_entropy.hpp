// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <vector>

#include <devplace/nn/detail/batch_rows.hpp>
#include <devplace/nn/loss.hpp>
#include <devplace/ops/cross_entropy.hpp>
#include <devplace/tensor/detail/number_options.hpp>

namespace devplace::nn {

/// Cross-entropy between logits [batch, classes] and labels [batch] (int64, int32 or uint8), with the options of
/// torch.nn.CrossEntropyLoss. Also takes logits [batch, ..., classes] and labels [batch, ...], such as those of tokens;
/// the result is PyTorch's for logits and labels flattened to rows. The gradient is that of the sum of the losses; the
/// optimizer divides it if `reduce` is the mean.
struct cross_entropy {
  /// Trainers reject networks that end in softmax, and targets that are not integers.
  ///@{
  static constexpr bool takes_logits = true;
  static constexpr bool takes_class_numbers = true;
  ///@}

  std::int64_t ignore_index = -100;        ///< rows with this label are ignored
  double label_smoothing = 0;              ///< share of each row's weight, spread over all classes
  std::vector<double> class_weights = {};  ///< one per class; empty: all 1
  reduction reduce = reduction::mean;      ///< sum, or the mean weighted by class weights; NaN if the weights sum to 0

  /// Lists the options for comparison between processes.
  static void for_each_option(auto& self, auto&& f) {
    f("ignore_index", self.ignore_index);
    f("label_smoothing", self.label_smoothing);
    f("class_weights", self.class_weights);
    f("reduce", self.reduce);
  }

  /// The options on one place, with class weights in that place's memory.
  template <class T> struct bound {
    using calls_then = bound;                   ///< the type whose into() takes `then`; not that of a derived loss
    using overwrites_output = bound;            ///< the gradient may be the output's memory
    static constexpr bool of_last_axis = true;  ///< each row of the logits has a loss
    cross_entropy_options<T> options;           ///< the options of the operation
    detail::placed_weights<T> weights;          ///< the class weights

    /// Computes losses, their sums and the gradient of one place's part of a batch; `rows` is workspace. Throws
    /// shape_error unless each row has a label, and argument_error unless there is one class weight per class or none.
    /// Then calls `then(0)` in the same pass.
    template <class Sums, class Gradient, class Rows, class Logits, class Labels,
              class Then = devplace::detail::no_operation>
    DEVPLACE_CONFIGURED auto into(const Sums& sums, const Gradient& gradient, const Rows& rows, const Logits& logits,
                                  const Labels& labels, const Then& then = {}) const {
      const std::size_t classes = logits.extent(Logits::rank - 1);
      if (weights.count != 0 && weights.count != classes)
        throw argument_error({"cross_entropy: class_weights has ", weights.count, " values and the logits have ",
                              classes, " classes; give one weight for each class."});
      if constexpr (Logits::rank > 2 && Labels::rank + 1 == Logits::rank) {
        detail::require_label_of_each_row("cross_entropy", logits, labels);
        devplace::detail::cross_entropy_then(sums, detail::rows(gradient), rows, detail::rows(logits),
                                             labels.reshape(extents<dyn>{labels.size()}), options, then);
      } else {
        devplace::detail::cross_entropy_then(sums, gradient, rows, logits, labels, options, then);
      }
    }
  };

  /// Binds the loss to one place. Throws argument_error for options out of range.
  template <class T, class Backend> bound<T> bind(int ordinal) const {
    detail::require_mean_or_sum("cross_entropy", reduce);
    devplace::detail::proportion.require(label_smoothing, "cross_entropy", "label_smoothing");
    bound<T> result{{}, detail::place_weights<T, Backend>(ordinal, class_weights)};
    result.options.ignore_index = ignore_index;
    result.options.label_smoothing = static_cast<T>(label_smoothing);
    result.options.class_weights = result.weights.data();
    return result;
  }

  /// Computes loss and gradient: `auto [loss, gradient] = nn::cross_entropy{}(logits, labels)`.
  DEVPLACE_CONFIGURED auto operator()(const auto& logits, const auto& labels) const {
    return evaluate_loss(*this, logits, labels);
  }
};

}  // namespace devplace::nn

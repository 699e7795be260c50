// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <devplace/nn/detail/batch_rows.hpp>
#include <devplace/nn/loss.hpp>
#include <devplace/nn/sum_losses.hpp>
#include <devplace/tensor/dtype.hpp>

namespace devplace::nn::detail {

/// Functor of a row's loss and gradient; the gradient may alias the output.
template <class T, class Label> struct nll_row {
  T* gradient;
  const T* output;
  const Label* labels;
  const T* class_weights;  // null: all 1
  std::size_t n;
  std::int64_t ignore_index;

  DEVPLACE_HD T weight(std::size_t row) const {
    const auto label = static_cast<std::int64_t>(labels[row]);
    if (label == ignore_index) return 0;
    if (!is_class(label)) return devplace::detail::not_a_number<T>;
    return class_weights == nullptr ? T{1} : class_weights[label];
  }
  DEVPLACE_HD T operator()(std::size_t row) const {
    const auto label = static_cast<std::int64_t>(labels[row]);
    const bool ignored = label == ignore_index, invalid = !ignored && !is_class(label);
    T* const dx = gradient + row * n;
    const T w = weight(row);
    const T loss = invalid   ? devplace::detail::not_a_number<T>
                   : ignored ? T{0}
                             : -w * output[row * n + static_cast<std::size_t>(label)];
    for (std::size_t c = 0; c < n; ++c) dx[c] = invalid ? devplace::detail::not_a_number<T> : T{0};
    if (!ignored && !invalid) dx[label] = -w;
    return loss;
  }

 private:
  DEVPLACE_HD bool is_class(std::int64_t label) const { return label >= 0 && static_cast<std::uint64_t>(label) < n; }
};

}  // namespace devplace::nn::detail

namespace devplace::nn {

/// The negative of each label's element in the output: torch.nn.NLLLoss. Outputs [batch, classes] are *logarithms* of
/// probabilities from nn::log_softmax; labels [batch] are int64, int32 or uint8. Also takes outputs [batch, ...,
/// classes] and labels [batch, ...], such as those of tokens. Without log_softmax the loss has no lower bound; trainers
/// reject networks that end in linear. cross_entropy computes log_softmax and nll in one pass.
struct nll {
  /// Trainers reject networks that end in softmax, sigmoid or linear, and targets that are not integers.
  ///@{
  static constexpr bool takes_log_probabilities = true;
  static constexpr bool takes_class_numbers = true;
  ///@}

  std::int64_t ignore_index = -100;        ///< rows with this label are ignored
  std::vector<double> class_weights = {};  ///< one per class; empty: all 1
  reduction reduce = reduction::mean;      ///< sum, or the mean weighted by class weights; NaN if the weights sum to 0

  /// Lists the options for comparison between processes.
  static void for_each_option(auto& self, auto&& f) {
    f("ignore_index", self.ignore_index);
    f("class_weights", self.class_weights);
    f("reduce", self.reduce);
  }

  /// The loss on one place, with class weights in that place's memory.
  template <class T> struct bound {
    using overwrites_output = bound;            ///< the gradient may be the output's memory
    static constexpr bool of_last_axis = true;  ///< each row of the output has a loss
    std::int64_t ignore_index;                  ///< label of rows that do not count
    detail::placed_weights<T> weights;          ///< weights of the classes

    /// Computes losses, their sums and the gradient of one place's part of a batch; `rows` is workspace. Throws
    /// shape_error unless each row has a label, and argument_error unless there is one class weight per class or none.
    /// A label that is no class makes both sums NaN: the update is skipped, and reading the loss throws.
    template <class Sums, class Gradient, class Rows, class Output, class Labels>
    DEVPLACE_CONFIGURED auto into(const Sums& sums, const Gradient& gradient, const Rows& rows, const Output& output,
                                  const Labels& labels) const {
      constexpr bool of_classes = Output::rank >= 2 && Labels::rank + 1 == Output::rank,
                     of_integers = std::is_integral_v<typename Labels::value_type>,
                     of_floats = devplace::detail::is_floating<typename Output::value_type>;
      static_assert(of_classes,
                    "devplace: nll: the output has the shape [batch, classes] and labels [batch], or the output "
                    "[batch, ..., classes] and labels [batch, ...].");
      static_assert(of_integers,
                    "devplace: nll: labels are class numbers, of type int64, int32 or uint8, not float; probabilities "
                    "of all classes are the targets of nn::kl_div.");
      static_assert(of_floats, "devplace: nll: the output must be float or double; convert with cast<float>(x) first.");
      if constexpr (of_classes && of_integers && of_floats) {
        const std::size_t classes = output.extent(Output::rank - 1);
        detail::require_label_of_each_row("nll", output, labels);
        if (weights.count != 0 && weights.count != classes)
          throw argument_error({"nll: class_weights has ", weights.count, " values and the output has ", classes,
                                " classes; give one weight for each class."});
        sum_losses(sums, rows,
                   detail::nll_row<T, typename Labels::value_type>{
                       devplace::detail::raw_data(gradient), devplace::detail::raw_data(output),
                       devplace::detail::raw_data(labels), weights.data(), classes, ignore_index});
      }
    }
  };

  /// Binds the loss to one place. Throws argument_error for a reduction other than mean and sum.
  template <class T, class Backend> bound<T> bind(int ordinal) const {
    detail::require_mean_or_sum("nll", reduce);
    return {ignore_index, detail::place_weights<T, Backend>(ordinal, class_weights)};
  }

  /// Computes loss and gradient: `auto [loss, gradient] = nn::nll{}(output, labels)`.
  DEVPLACE_CONFIGURED auto operator()(const auto& output, const auto& labels) const {
    return evaluate_loss(*this, output, labels);
  }
};

}  // namespace devplace::nn

// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <devplace/ops/detail/logarithm.hpp>
#include <devplace/ops/detail/loss_sums.hpp>
#include <devplace/ops/detail/operands.hpp>
#include <devplace/ops/detail/row_loops.hpp>
#include <devplace/ops/for_each_row.hpp>
#include <devplace/tensor/detail/number_options.hpp>
#include <devplace/tensor/evaluated.hpp>

namespace devplace {

namespace op {

/// `run(ordinal, rows, row_functor, terms, reducer)`: runs the functor for each row, and reduces `terms(row)`, which
/// may read what the functor wrote. Backends without this operation use two others.
struct losses_of_rows {};

}  // namespace op

/// Options of PyTorch's cross_entropy, under the same names.
template <floating_element T> struct cross_entropy_options {
  std::int64_t ignore_index = -100;  ///< rows with this label are ignored
  T label_smoothing = 0;             ///< 0 to 1: the share of the target that is spread evenly over all classes
  const T* class_weights = nullptr;  ///< one weight per class, on the logits' place; null: all 1
};

}  // namespace devplace

namespace devplace::detail {

/// Sums for label smoothing: of w_c, and of w_c (x_c - max), in the order of row_sum. Few losses smooth labels, so this
/// function is short and not compiled for each instruction set.
struct smoothing_sums {
  double weights = 0, logits = 0;

  template <class T>
  [[gnu::noinline]] static DEVPLACE_HD smoothing_sums of(const T* x, const T* w, T max, std::size_t n) {
    double weights[row_lanes + 1] = {}, logits[row_lanes + 1] = {};  // the last is for elements that fill no lanes
    const std::size_t whole = n / row_lanes * row_lanes;
    for (std::size_t c = 0; c < n; ++c) {
      const std::size_t lane = c < whole ? c % row_lanes : row_lanes;
      const double weight = w == nullptr ? 1 : static_cast<double>(w[c]);
      weights[lane] += weight;
      logits[lane] += static_cast<double>(x[c] - max) * weight;
    }
    return {sum_of_lanes(weights) + weights[row_lanes], sum_of_lanes(logits) + logits[row_lanes]};
  }
};

/// The terms of a row from which its loss follows: the sum of all exponentials, the target's, and the target's logit
/// relative to the largest.
template <class T> struct target_terms {
  double sum;
  T share, target;

  /// The sum without the target's term. Where it is small, 1 - softmax(x)_y = others / sum avoids cancellation in loss
  /// and gradient. If the target's term is the smaller part, subtracting it loses no digits.
  DEVPLACE_HD double others() const {
    const double difference = sum - static_cast<double>(share);
    return difference < 0 ? 0 : difference;
  }

  /// -log softmax(x)_y is log(1 + others / share), or log(sum) - target if the target's term is small. A ratio up to 1
  /// has a logarithm that is precise for small ratios.
  DEVPLACE_HD bool is_large() const { return share >= T{0.5}; }
  DEVPLACE_HD T ratio() const { return static_cast<T>(others() / static_cast<double>(share)); }
  DEVPLACE_HD T limited_ratio() const { return ratio() < T{1} ? ratio() : T{1}; }
  DEVPLACE_HD T number() const { return is_large() ? T{1} + ratio() : static_cast<T>(sum); }
  DEVPLACE_HD T negative_log(T log_of_ratio, T log_of_number) const {
    if (!is_large()) return log_of_number - target;
    return ratio() <= T{1} ? log_of_ratio : log_of_number;
  }
};

/// Row functor: computes the loss of a row, and its gradient unless `dlogits` is null.
template <class T, class Label> struct cross_entropy_row {
  static constexpr bool computes_much = true;

  T* dlogits;  // may be `logits`
  T* losses;
  const T* logits;
  const Label* labels;
  std::size_t n;
  cross_entropy_options<T> options;

  DEVPLACE_HD void operator()(std::size_t row) const {
    if (has_target(row)) with_target(row, static_cast<std::size_t>(labels[row]));
  }

  /// The rows of a CPU loop. Rows with few elements fill vectors only side by side.
  void range(std::size_t begin, std::size_t end) const {
    if (n <= few_classes && options.label_smoothing == 0 && options.class_weights == nullptr) {
      for (; begin + side_by_side <= end; begin += side_by_side) of_few_classes(begin);
    }
    for (; begin != end; ++begin) (*this)(begin);
  }

 private:
  static constexpr std::size_t few_classes = 32, side_by_side = 16;

  /// Returns whether the row has a target. Otherwise writes its loss and gradient.
  DEVPLACE_HD bool has_target(std::size_t row) const {
    const auto label = static_cast<std::int64_t>(labels[row]);
    if (label >= 0 && static_cast<std::uint64_t>(label) < n && label != options.ignore_index) return true;
    without_target(row, label == options.ignore_index ? T{0} : not_a_number<T>);
    return false;
  }

  DEVPLACE_HD void without_target(std::size_t row, T value) const {
    losses[row] = value;
    if (dlogits == nullptr) return;
    for (std::size_t c = 0; c < n; ++c) dlogits[row * n + c] = value;
  }

  /// with_target of 16 rows, which are the elements of vectors. Gives the same bits.
  void of_few_classes(std::size_t first) const {
    constexpr std::size_t rows = side_by_side;
    using bits = typename exponential_constants<T>::bits;
    T e[few_classes][rows];
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t c = 0; c < n; ++c) e[c][i] = logits[(first + i) * n + c];

    bits rank[rows];
    T max[rows];
    for (std::size_t i = 0; i < rows; ++i) rank[i] = rank_of(same_bits<bits>(-infinity<T>));
    for (std::size_t c = 0; c < n; ++c) {
      for (std::size_t i = 0; i < rows; ++i) {
        const bits next = rank_of(same_bits<bits>(e[c][i]));
        rank[i] = next > rank[i] ? next : rank[i];
      }
    }
    for (std::size_t i = 0; i < rows; ++i) max[i] = same_bits<T>(rank_of(rank[i]));

    double lanes[row_lanes + 1][rows] = {};  // the last is for elements that fill no lanes
    for (std::size_t c = 0; c < n; ++c) {
      const std::size_t lane = c < n / row_lanes * row_lanes ? c % row_lanes : row_lanes;
      for (std::size_t i = 0; i < rows; ++i)
        e[c][i] = fast_exp_below_64<T>(limited_to(exponential_constants<T>::limit, e[c][i] - max[i]));
      for (std::size_t i = 0; i < rows; ++i) lanes[lane][i] += static_cast<double>(e[c][i]);
    }

    target_terms<T> terms[rows];
    T ratio[rows], number[rows];
    for (std::size_t i = 0; i < rows; ++i) {
      double of_row[row_lanes];
      for (std::size_t lane = 0; lane < row_lanes; ++lane) of_row[lane] = lanes[lane][i];
      // A row without target takes the terms of class 0, which nothing reads.
      const auto label =
          static_cast<std::uint64_t>(labels[first + i]) < n ? static_cast<std::size_t>(labels[first + i]) : 0;
      terms[i] = {sum_of_lanes(of_row) + lanes[row_lanes][i], e[label][i], logits[(first + i) * n + label] - max[i]};
      ratio[i] = terms[i].limited_ratio(), number[i] = terms[i].number();
    }
    for (std::size_t i = 0; i < rows; ++i) ratio[i] = log_of_one_plus(ratio[i]);
    for (std::size_t i = 0; i < rows; ++i) number[i] = fast_log(number[i]);
    for (std::size_t i = 0; i < rows; ++i) {
      const std::size_t row = first + i;
      if (!has_target(row)) continue;
      losses[row] = terms[i].negative_log(ratio[i], number[i]);
      if (dlogits == nullptr) continue;
      T* const dx = dlogits + row * n;
      const T scale = static_cast<T>(1 / terms[i].sum);
      for (std::size_t c = 0; c < n; ++c) dx[c] = e[c][i] * scale;
      dx[labels[row]] = -static_cast<T>(terms[i].others() / terms[i].sum);
    }
  }

  DEVPLACE_HD void with_target(std::size_t row, std::size_t label) const {
    const T* const x = logits + row * n;
    const T* const w = options.class_weights;
    const T max = row_max<T>(x, n);
    const T target = x[label] - max;
    const T weight = w == nullptr ? T{1} : w[label];
    const T smooth = options.label_smoothing / static_cast<T>(n);
    const T sharp = 1 - options.label_smoothing;

    // Computed first, because the gradient may overwrite x.
    const smoothing_sums all = smooth == 0 ? smoothing_sums{} : smoothing_sums::of(x, w, max, n);

    T* const dx = dlogits == nullptr ? nullptr : dlogits + row * n;
    const target_terms<T> terms{row_exponentials<T>(dx, x, max, n), exponential_of<T>(target, T{0}), target};
    const double sum = terms.sum;
    T loss = sharp * weight * terms.negative_log(log_of_one_plus(terms.limited_ratio()), fast_log(terms.number()));
    if (smooth != 0) {
      // negative_log + target would cancel, or be NaN, if the target's logit is far below the largest.
      loss += smooth * static_cast<T>(all.weights * std::log(sum) - all.logits);
    }
    losses[row] = loss;

    if (dx == nullptr) return;
    const T scale =
        static_cast<T>((static_cast<double>(sharp * weight) + static_cast<double>(smooth) * all.weights) / sum);
    for (std::size_t c = 0; c < n; ++c) dx[c] *= scale;
    if (smooth != 0) {
      for (std::size_t c = 0; c < n; ++c) dx[c] -= smooth * (w == nullptr ? T{1} : w[c]);
    }
    dx[label] = static_cast<T>(static_cast<double>(smooth) *
                               (all.weights * static_cast<double>(terms.share) / sum - static_cast<double>(weight))) -
                sharp * weight * static_cast<T>(terms.others() / sum);
  }
};

/// The loss of a row and its weight in the mean.
template <class T, class Label> struct cross_entropy_terms {
  const T* losses;
  const Label* labels;
  const T* class_weights;
  std::size_t n;
  std::int64_t ignore_index;
  static constexpr bool computes_little = true;

  DEVPLACE_HD loss_term operator()(std::size_t row) const {
    const auto label = static_cast<std::int64_t>(labels[row]);
    double weight = 0;
    if (label < 0 || static_cast<std::uint64_t>(label) >= n)
      weight = label == ignore_index ? 0 : not_a_number<double>;
    else if (label != ignore_index)
      weight = class_weights == nullptr ? 1 : static_cast<double>(class_weights[label]);
    return {static_cast<double>(losses[row]), weight};
  }
};

/// Whether the types allow cross_entropy; if not, an assertion fails.
/// Returns `auto` to be instantiated at the call, so that the compiler shows the user's line.
template <class Sums, class DLogits, class RowLosses, class Logits, class Labels>
constexpr auto check_cross_entropy_types() {
  using value = operand_element_t<Logits>;
  constexpr bool together = on_one_device<Logits, Labels, Sums, DLogits, RowLosses>,
                 whole = std::is_integral_v<operand_element_t<Labels>>, floating = detail::is_floating<value>,
                 same = std::is_same_v<operand_element_t<Sums>, value> &&
                        std::is_same_v<operand_element_t<DLogits>, value> &&
                        std::is_same_v<operand_element_t<RowLosses>, value>,
                 written = writable<Sums> && writable<DLogits> && writable<RowLosses>,
                 shaped = operand_extents_t<Logits>::rank == 2 && operand_extents_t<Labels>::rank == 1;
  static_assert(
      together,
      "devplace: cross_entropy: the operands live on different places; move them to one with to<on<...>>(x).");
  static_assert(whole,
                "devplace: cross_entropy: labels are class numbers, of type int64, int32 or uint8, not float; for "
                "regression use mse.");
  static_assert(floating,
                "devplace: cross_entropy: logits must be float or double; convert with cast<float>(x) first.");
  static_assert(same, "devplace: cross_entropy: sums, gradient and row losses must have the logits' element type.");
  static_assert(written, "devplace: cross_entropy: sums, gradient and row losses must not be const.");
  static_assert(shaped,
                "devplace: cross_entropy: logits have the shape [rows, classes] and labels [rows]; as a loss it also "
                "takes logits [batch, ..., classes] with labels [batch, ...].");
  if constexpr (together && whole && floating && same && written && shaped) {
    using rows = extents<operand_extents_t<Logits>::static_extent(0)>;
    constexpr bool gradient_fits = compatible<operand_extents_t<Logits>, operand_extents_t<DLogits>>,
                   rows_fit =
                       compatible<operand_extents_t<Labels>, rows> && compatible<operand_extents_t<RowLosses>, rows>,
                   two_sums = compatible<operand_extents_t<Sums>, extents<2>>;
    static_assert(gradient_fits, "devplace: cross_entropy: the gradient must have the extents of the logits.");
    static_assert(rows_fit,
                  "devplace: cross_entropy: labels and row losses must have one element for each row of the logits.");
    static_assert(two_sums, "devplace: cross_entropy: the sums must have the extents [2]: of losses, of weights.");
    return gradient_fits && rows_fit && two_sums;
  } else {
    return false;
  }
}

}  // namespace devplace::detail

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

/// cross_entropy_into, followed by `then(0)` in the same pass.
template <class Sums, class DLogits, class RowLosses, class Logits, class Labels, class Then>
void cross_entropy_then(Sums&& sums, DLogits&& dlogits, RowLosses&& row_losses, const Logits& logits,
                        const Labels& labels, const cross_entropy_options<operand_element_t<Logits>>& options,
                        const Then& then) {
  if constexpr (check_cross_entropy_types<Sums, DLogits, RowLosses, Logits, Labels>()) {
    using value = operand_element_t<Logits>;
    using label = operand_element_t<Labels>;
    const auto x = as_view(logits);
    const auto y = as_view(labels);
    const auto dx = as_view(dlogits);
    const auto losses = as_view(row_losses);
    const auto totals = as_view(sums);
    require_one_device("cross_entropy", x, y, dx, losses, totals);
    require_same_extents("cross_entropy", "the gradient", dx, "logits", x);
    if (y.extent(0) != x.extent(0) || losses.extent(0) != x.extent(0) || totals.extent(0) != 2)
      throw shape_error({"cross_entropy: logits are ", to_string(x.extents()), ", labels ", to_string(y.extents()),
                         ", row losses ", to_string(losses.extents()), " and sums ", to_string(totals.extents()),
                         "; labels and row losses need one element for each row of the logits, sums two."});
    proportion.require(static_cast<double>(options.label_smoothing), "cross_entropy", "label_smoothing");
    using backend = operand_backend_t<Logits>;
    const std::size_t rows = x.extent(0), n = x.extent(1);
    constexpr std::size_t columns = operand_extents_t<Logits>::static_extent(1);
    const cross_entropy_row<value, label> row{raw_data(dx), raw_data(losses), raw_data(x), raw_data(y), n, options};
    const cross_entropy_terms<value, label> terms{row.losses, row.labels, options.class_weights, n,
                                                  options.ignore_index};
    if constexpr (provided<backend, op::losses_of_rows>) {
      dispatch<op::losses_of_rows, backend>(x.ordinal(), rows,
                                            row_functor<cross_entropy_row<value, label>, columns>{row, n}, terms,
                                            loss_reducer<value, Then>{raw_data(totals), then});
    } else {
      for_each_row<backend, columns>(x.ordinal(), rows, n, row_grain(n, 8), row);
      sum_losses<backend>(x.ordinal(), rows, raw_data(totals), terms, then);
    }
  }
}

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Computes sums of the cross-entropy of softmax(logits) against class indices, and the gradient, as
/// torch.nn.functional's cross_entropy with reduction="sum" (mean = sums[0] / sums[1]).
/// Shapes: sums [2], dlogits and logits [rows, n], row_losses and labels [rows]. Labels int64, int32 or uint8.
/// - sums[0] = sum of the rows' losses, with e the label smoothing, w the class weights, y the label:
///   loss = (1 - e) w_y (log sum exp x - x_y) + e / n * sum over c of w_c (log sum exp x - x_c);
/// - sums[1] = sum of w_y over rows that are not ignored, the divisor of the mean;
/// - dlogits = gradient of sums[0], not divided by sums[1]. May be `logits`; not computed if its data is null;
/// - row_losses = each row's loss (0 where ignored).
/// Ignored rows get gradient 0, whatever their logits are. If all rows are ignored, both sums are 0. If a label is
/// outside 0..n-1 and not ignore_index, both sums and the row's gradient are NaN: an optimizer skips the step, and
/// reading the loss of a trainer or of nn::cross_entropy throws argument_error. Options out of range throw
/// argument_error, different extents shape_error. Enqueued on the current stream of the logits' place.
template <tensor_like Sums, tensor_like DLogits, tensor_like RowLosses, tensor_like Logits, tensor_like Labels>
void cross_entropy_into(Sums&& sums, DLogits&& dlogits, RowLosses&& row_losses, const Logits& logits,
                        const Labels& labels,
                        const cross_entropy_options<detail::operand_element_t<Logits>>& options = {}) {
  detail::cross_entropy_then(sums, dlogits, row_losses, logits, labels, options, detail::no_operation{});
}

/// Cross-entropy of softmax(logits) [rows, n] against labels [rows], as a new scalar tensor on the logits' place:
/// reduction::mean (weighted, over rows that are not ignored; NaN if all are ignored) or reduction::sum; NaN if a label
/// is no class. Other rules are those of cross_entropy_into. Expressions are evaluated first.
template <detail::evaluable LogitsArgument, detail::evaluable LabelsArgument>
auto cross_entropy(LogitsArgument&& scores, LabelsArgument&& classes,
                   const cross_entropy_options<detail::value_type_of<LogitsArgument>>& options = {},
                   reduction mode = reduction::mean) {
  detail::check_unnamed<LogitsArgument, LabelsArgument>();
  const auto& logits = evaluated(scores);
  const auto& labels = evaluated(classes);
  using Logits = detail::evaluated_value_t<LogitsArgument>;
  using Labels = detail::evaluated_value_t<LabelsArgument>;
  using value = detail::operand_element_t<Logits>;
  detail::loss_workspace<Logits, value> work("cross_entropy", logits, mode);
  if constexpr (detail::check_cross_entropy_types<decltype((work.sums)), decltype((work.no_gradient)),
                                                  decltype((work.row_losses)), Logits, Labels>())
    cross_entropy_into(work.sums, work.no_gradient, work.row_losses, logits, labels, options);
  return work.result(mode);
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION

#include DEVPLACE_BACKENDS(cross_entropy)

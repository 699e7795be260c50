// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>

#include <devplace/ops/cross_entropy_options.hpp>
#include <devplace/ops/detail/cross_entropy_row.hpp>
#include <devplace/ops/detail/loss_sums.hpp>
#include <devplace/ops/detail/operands.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/tensor/detail/number_options.hpp>
#include <devplace/tensor/evaluated.hpp>

namespace devplace::op {

/// `run(ordinal, rows, row_functor, terms, reducer)`: runs the functor for each row, and reduces `terms(row)`, which
/// may read what the functor wrote. Backends without this operation use two others.
struct losses_of_rows {};

}  // namespace devplace::op

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

/// Whether the types allow cross_entropy; if not, an assertion fails.
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
  detail::loss_workspace<Logits> work("cross_entropy", logits, mode);
  if constexpr (detail::check_cross_entropy_types<decltype((work.sums)), decltype((work.no_gradient)),
                                                  decltype((work.row_losses)), Logits, Labels>())
    cross_entropy_into(work.sums, work.no_gradient, work.row_losses, logits, labels, options);
  return work.result(mode);
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION

#include DEVPLACE_BACKENDS(cross_entropy)

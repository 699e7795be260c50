// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>

#include <devplace/ops/detail/independent_loop.hpp>
#include <devplace/ops/detail/loss_sums.hpp>
#include <devplace/ops/detail/operands.hpp>
#include <devplace/ops/detail/row_loops.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/tensor/evaluated.hpp>
#include <devplace/tensor/layout.hpp>

namespace devplace::detail {

/// Row functor: computes a row's loss, the sum over its elements, and its gradient unless `gradient` is null. The
/// formula gives the loss of an output element and its target, and the loss's derivative with respect to the output.
template <class T, class Formula> struct pointwise_row {
  static constexpr bool computes_much = true;

  T* gradient;  // may be `output`
  T* losses;
  const T* output;
  const T* target;
  std::size_t n;
  Formula formula = {};

  DEVPLACE_HD void operator()(std::size_t row) const {
    const T* const x = output + row * n;
    const T* const t = target + row * n;
    const Formula f = formula;
    using loss = decltype(f.loss(*x, *t, n));
    losses[row] = static_cast<T>(row_sum<loss>(n, [f, x, t](std::size_t i) { return f.loss(x[i], t[i], i); }));
    if (gradient == nullptr) return;
    T* const dx = gradient + row * n;
    independent_loop(0, n, [=](std::size_t i) { dx[i] = f.derivative(x[i], t[i], i); });
  }
};

template <class T> struct squared_difference {
  DEVPLACE_HD double loss(T x, T t, std::size_t) const {
    const T difference = x - t;
    return static_cast<double>(difference) * static_cast<double>(difference);
  }
  DEVPLACE_HD T derivative(T x, T t, std::size_t) const { return 2 * (x - t); }
};
template <class T> using mse_row = pointwise_row<T, squared_difference<T>>;

/// The number of elements per index of the first axis; dyn unless it is static.
template <class E>
inline constexpr std::size_t static_row_size =
    extents_without_t<E, 0>::is_static ? extents_without_t<E, 0>{}.size() : dyn;

/// The loss of a row, and its weight: for a mean over elements their number in the row, for one over samples 1.
template <class T> struct mse_terms {
  const T* losses;
  double weight;
  DEVPLACE_HD loss_term operator()(std::size_t row) const { return {static_cast<double>(losses[row]), weight}; }
};

// Also messages of nn::mse.
#define DEVPLACE_DETAIL_MSE_OTHER_RANK                                                                                \
  "devplace: mse: the operands have different numbers of axes, such as [n, 1] and [n]; give one of them the extents " \
  "of the other by reshape(...), or take cross_entropy for class numbers."
#define DEVPLACE_DETAIL_MSE_OTHER_EXTENTS "devplace: mse: the operands must have the same extents."

/// Whether the types allow mse; if not, an assertion fails.
template <class Sums, class DY, class RowLosses, class Y, class Target> constexpr auto check_mse_types() {
  using value = operand_element_t<Y>;
  using output = operand_extents_t<Y>;
  using wanted = operand_extents_t<Target>;
  constexpr bool together = on_one_device<Y, Target, Sums, DY, RowLosses>, floating = detail::is_floating<value>,
                 same = std::is_same_v<operand_element_t<Target>, value> &&
                        std::is_same_v<operand_element_t<Sums>, value> &&
                        std::is_same_v<operand_element_t<DY>, value> &&
                        std::is_same_v<operand_element_t<RowLosses>, value>,
                 written = writable<Sums> && writable<DY> && writable<RowLosses>, has_rows = output::rank > 0;
  static_assert(together,
                "devplace: mse: the operands live on different places; move them to one with to<on<...>>(x).");
  static_assert(floating, "devplace: mse: the elements must be float or double; convert with cast<float>(x) first.");
  static_assert(same,
                "devplace: mse: the operands have different element types; convert with cast<T>(x) first, or take "
                "cross_entropy for class numbers.");
  static_assert(written, "devplace: mse: sums, gradient and row losses must not be const.");
  static_assert(has_rows, "devplace: mse: the operands need an axis of samples.");
  if constexpr (together && floating && same && written && has_rows) {
    constexpr bool same_rank = output::rank == wanted::rank,
                   same_extents =
                       !same_rank || (compatible<output, wanted> && compatible<output, operand_extents_t<DY>>),
                   rows = compatible<operand_extents_t<RowLosses>, extents<output::static_extent(0)>>,
                   two_sums = compatible<operand_extents_t<Sums>, extents<2>>;
    static_assert(same_rank, DEVPLACE_DETAIL_MSE_OTHER_RANK);
    static_assert(same_extents, DEVPLACE_DETAIL_MSE_OTHER_EXTENTS);
    static_assert(rows, "devplace: mse: row losses must have one element for each index of the first axis.");
    static_assert(two_sums, "devplace: mse: the sums must have the extents [2]: of squares, of elements.");
    return same_rank && same_extents && rows && two_sums;
  } else {
    return false;
  }
}

}  // namespace devplace::detail

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Sums of the squared differences of y and target, and their gradient.
/// Shapes: y, target and dy the same, [rows, ...]; row_losses [rows]; sums [2].
/// sums[0] = sum of (y - target)^2, sums[1] = number of elements (mean = sums[0] / sums[1]); row_losses = each row's
/// sum; dy = 2 (y - target), the gradient of sums[0], not divided by sums[1]. dy may be y; it is not computed if its
/// data is null. Enqueued on the current stream of y's place. Different extents throw shape_error.
template <tensor_like Sums, tensor_like DY, tensor_like RowLosses, tensor_like Y, tensor_like Target>
void mse_into(Sums&& sums, DY&& dy, RowLosses&& row_losses, const Y& y, const Target& target) {
  if constexpr (detail::check_mse_types<Sums, DY, RowLosses, Y, Target>()) {
    using value = detail::operand_element_t<Y>;
    const auto out = detail::as_view(y);
    const auto wanted = detail::as_view(target);
    const auto gradient = detail::as_view(dy);
    const auto losses = detail::as_view(row_losses);
    const auto totals = detail::as_view(sums);
    detail::require_one_device("mse", out, wanted, gradient, losses, totals);
    detail::require_same_extents("mse", "y", out, "target", wanted);
    detail::require_same_extents("mse", "y", out, "the gradient", gradient);
    if (losses.extent(0) != out.extent(0) || totals.extent(0) != 2)
      throw shape_error({"mse: y is ", detail::to_string(out.extents()), ", row losses ",
                         detail::to_string(losses.extents()), " and sums ", detail::to_string(totals.extents()),
                         "; row losses need one element for each index of the first axis, sums two."});
    using backend = detail::operand_backend_t<Y>;
    const std::size_t rows = out.extent(0);
    const std::size_t n = out.extents().stride(0);
    detail::for_each_row<backend, detail::static_row_size<detail::operand_extents_t<Y>>>(
        out.ordinal(), rows, n, detail::row_grain(n, 1),
        detail::mse_row<value>{detail::raw_data(gradient), detail::raw_data(losses), detail::raw_data(out),
                               detail::raw_data(wanted), n});
    detail::sum_losses<backend>(out.ordinal(), rows, detail::raw_data(totals),
                                detail::mse_terms<value>{detail::raw_data(losses), static_cast<double>(n)});
  }
}

/// Mean (or sum, with reduction::sum) of the squared differences of y and target, as a new scalar tensor on y's place.
/// Expressions are evaluated first. See mse_into.
template <detail::evaluable OutputArgument, detail::evaluable TargetArgument>
auto mse(OutputArgument&& output, TargetArgument&& targets, reduction mode = reduction::mean) {
  detail::check_unnamed<OutputArgument, TargetArgument>();
  const auto& y = evaluated(output);
  const auto& target = evaluated(targets);
  using Y = detail::evaluated_value_t<OutputArgument>;
  using Target = detail::evaluated_value_t<TargetArgument>;
  detail::loss_workspace<Y> work("mse", y, mode);
  if constexpr (detail::check_mse_types<decltype((work.sums)), decltype((work.no_gradient)),
                                        decltype((work.row_losses)), Y, Target>())
    mse_into(work.sums, work.no_gradient, work.row_losses, y, target);
  return work.result(mode);
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION

#include DEVPLACE_BACKENDS(mse)

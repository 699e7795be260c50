// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <devplace/base/refusal.hpp>
#include <devplace/config.hpp>
#include <devplace/ops/detail/operands.hpp>
#include <devplace/place/backend.hpp>
#include <devplace/tensor/dtype.hpp>
#include <devplace/tensor/evaluated.hpp>

namespace devplace::op {

/// `run(ordinal, row_taker)`: copies the rows whose indices an array contains.
struct take_rows {};

}  // namespace devplace::op

namespace devplace::detail {

/// The value that a device writes for a source row that does not exist.
template <class T> DEVPLACE_HD constexpr T no_element() {
  if constexpr (!std::is_integral_v<T>)
    return not_a_number<T>;
  else
    return lowest_number<T>;
}

/// Copies row `indices[i]` to row i for every i below `count`. The source has `rows` rows of `columns` elements. Only
/// `height` rows from `first` on are there and are copied; a row that is not one of `rows` counts as any row.
template <class T, class Index> struct row_taker {
  const T* from;
  const Index* indices;
  T* to;
  std::size_t rows;
  std::size_t count;
  std::size_t columns;
  std::size_t first = 0, height = rows;

  /// Whether the source of row i exists. Negative indices become large unsigned numbers.
  DEVPLACE_HD bool exists(std::size_t i) const { return source(i) < rows; }
  DEVPLACE_HD std::size_t source(std::size_t i) const {
    return static_cast<std::size_t>(static_cast<std::int64_t>(indices[i]));
  }
  /// Whether the source of row i is a row that lies elsewhere.
  DEVPLACE_HD bool skips(std::size_t i) const { return exists(i) && source(i) - first >= height; }
  /// Writes element i of the result, on a device.
  DEVPLACE_HD void operator()(std::size_t i) const {
    const std::size_t row = i / columns;
    if (skips(row)) return;
    to[i] = exists(row) ? from[source(row) * columns + i % columns] : no_element<T>();
  }
};

template <class X, class Indices> struct taken_rows {
  static constexpr bool has_rows = operand_extents_t<X>::rank > 0, one_axis = operand_extents_t<Indices>::rank == 1,
                        whole = std::is_integral_v<operand_element_t<Indices>>, together = on_one_device<X, Indices>;
  static constexpr bool allowed = has_rows && one_axis && whole && together;
  static_assert(whole,
                "devplace: take_rows: the indices must be integers, int64, int32 or uint8; convert them with "
                "cast<std::int64_t>(x).");
  static_assert(has_rows || !whole, "devplace: take_rows: a scalar has no rows; pass an operand of rank 1 or more.");
  static_assert(one_axis || !whole, "devplace: take_rows: the indices must have rank 1; reshape them first.");
  static_assert(together,
                "devplace: take_rows: the operand and the indices live on different places; move one with "
                "to<on<...>>(x).");
  using with_first = with_axis<operand_extents_t<X>, 0, operand_extents_t<Indices>::static_extent(0)>;
  using extents_type = typename with_first::type;
};

}  // namespace devplace::detail

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// y[i] = x[indices[i]] along the first axis, as torch.index_select along axis 0: for example samples of a batch or
/// rows of an embedding table. Shapes: x [n, ...], indices [m] of int64, int32 or uint8, y [m, ...]; a row of a rank-1
/// array is one element. All operands are on one place. y must not overlap x or the indices (argument_error).
/// Asynchronous on devices; does not allocate.
///
/// An index that is negative, or n or more, throws argument_error and leaves y unchanged; simulated devices throw from
/// the next call that waits. A GPU kernel cannot throw: the row of y becomes NaN, which propagates to later results, or
/// the lowest number of an integer type. Nothing beyond x is read.
template <tensor_like Y, tensor_like X, tensor_like Indices>
void take_rows_into(Y&& y, const X& x, const Indices& indices) {
  using value = detail::operand_element_t<X>;
  using result = detail::taken_rows<X, Indices>;
  static_assert(detail::on_one_device<X, Y>,
                "devplace: take_rows: the result and the operand live on different places; move one with "
                "to<on<...>>(x).");
  static_assert(detail::writable<Y>,
                "devplace: take_rows: the result's elements are const; pass a tensor or view to write to.");
  static_assert(
      std::is_same_v<detail::operand_element_t<Y>, value>,
      "devplace: take_rows: the result has another element type than the operand; convert with cast<T>(x) first.");
  static_assert(detail::compatible<detail::operand_extents_t<Y>, typename result::extents_type>,
                "devplace: take_rows: the result must have a row for each index, with the extents of the operand's "
                "rows.");
  const auto to = detail::as_view(y);
  const auto from = detail::as_view(x);
  const auto chosen = detail::as_view(indices);
  detail::require_one_device("take_rows", to, from, chosen);
  const auto wanted = result::with_first::with(chosen.size(), from.extents());
  if (!(to.extents() == wanted))
    detail::throw_other_extents("take_rows", "the result", detail::sizes_of(to.extents()), "the rows that are taken",
                                detail::sizes_of(wanted));
  detail::require_apart("take_rows", to, from, false);
  detail::require_apart("take_rows", to, chosen, false);
  if (chosen.size() == 0) return;
  const std::size_t columns = to.size() / chosen.size();
  detail::dispatch<op::take_rows, detail::operand_backend_t<X>>(
      to.ordinal(), detail::row_taker<value, detail::operand_element_t<Indices>>{
                        detail::raw_data(from), detail::raw_data(chosen), detail::raw_data(to), from.extent(0),
                        chosen.size(), columns});
}

/// The rows of x with the given indices, as a new tensor on x's place. Expressions are evaluated first. See
/// take_rows_into.
template <detail::accepted_argument Rows, detail::accepted_argument Positions>
auto take_rows(Rows&& rows, Positions&& positions) {
  constexpr bool stored = detail::evaluable<Rows> && detail::evaluable<Positions>;
  static_assert(stored,
                "devplace: take_rows: the rows and their indices must be tensors, views or expressions; wrap(v, "
                "extents(n)) makes a view of a vector.");
  if constexpr (stored && detail::check_unnamed<Rows, Positions>()) {
    const auto& x = evaluated(rows);
    const auto& indices = evaluated(positions);
    using X = detail::evaluated_value_t<Rows>;
    using Indices = detail::evaluated_value_t<Positions>;
    using result = detail::taken_rows<X, Indices>;
    if constexpr (result::allowed) {
      detail::result_beside_t<X, detail::operand_element_t<X>, typename result::extents_type> y(
          result::with_first::with(detail::as_view(indices).size(), detail::as_view(x).extents()));
      take_rows_into(y, x, indices);
      return y;
    } else {
      return detail::refusal{};
    }
  } else {
    return detail::refusal{};
  }
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION

#include <devplace/backend/cpu/take_rows.hpp>
#include DEVPLACE_BACKENDS(take_rows)

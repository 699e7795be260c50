// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <devplace/config.hpp>
#include <devplace/ops/detail/independent_loop.hpp>
#include <devplace/parallel/detail/field_layout.hpp>
#include <devplace/parallel/neighbourhood.hpp>

// Loops over the cells of a place's part of one or several fields, as bodies for the CPU and for kernels.
namespace devplace::parallel::detail {

/// How a loop accesses a field: `first` is its first cell that is no ghost. `at(k)` is what a functor is given for the
/// cell at offset k: a reference, or the value if T is const.
///@{
template <class T, std::size_t Rank> struct plain_cells {
  T* first;
  std::ptrdiff_t strides[Rank];
  DEVPLACE_HD std::conditional_t<std::is_const_v<T>, std::remove_const_t<T>, T&> at(std::ptrdiff_t k) const {
    return first[k];
  }
};
template <class T, class Halo, std::size_t Rank, bool Checked> struct exchanged_cells {
  const T* first;
  std::ptrdiff_t strides[Rank];
  DEVPLACE_HD neighbourhood<T, Halo, Rank, Checked> at(std::ptrdiff_t k) const { return {first + k, strides}; }
};
///@}
template <class Cells> using cell_of = decltype(std::declval<const Cells&>().at(0));

/// A trivially copyable tuple.
template <std::size_t I, class X> struct packed_one {
  X value;
};
template <class Sequence, class... X> struct packed_list;
template <std::size_t... I, class... X> struct packed_list<std::index_sequence<I...>, X...> : packed_one<I, X>... {};
template <std::size_t I, class X> DEVPLACE_HD constexpr const X& packed_at(const packed_one<I, X>& one) {
  return one.value;
}

/// Whether a functor takes cells, or cells and indices, and what it returns.
template <class F, class Axes, class... Cells> struct functor_call;
template <class F, std::size_t... Axis, class... Cells> struct functor_call<F, std::index_sequence<Axis...>, Cells...> {
  static constexpr bool takes_cells = std::is_invocable_v<const F&, cell_of<Cells>...>;
  static constexpr bool takes_indices =
      !takes_cells && std::is_invocable_v<const F&, cell_of<Cells>..., decltype(Axis)...>;
  using result = std::conditional_t<takes_indices, std::invoke_result<const F&, cell_of<Cells>..., decltype(Axis)...>,
                                    std::invoke_result<const F&, cell_of<Cells>...>>;
};

/// Calls `f(cell of each field...)`, or `f(cells..., i, j, ...)` with the indices in the whole field, for the cells of
/// a box of a part.
template <class F, std::size_t Rank, class... Cells> struct cell_loop {
  using axes = std::make_index_sequence<Rank>;
  using fields = std::index_sequence_for<Cells...>;
  static constexpr bool indexed = functor_call<F, axes, Cells...>::takes_indices;

  F f;
  packed_list<fields, Cells...> cells;
  std::size_t sizes[Rank];  ///< of the box
  std::size_t first[Rank];  ///< of the box, within the part
  std::size_t begin[Rank];  ///< of the part, within the field

  DEVPLACE_HD_CALLS_ANY
  DEVPLACE_HD auto operator()(std::size_t i) const {
    std::size_t index[Rank];
    for (std::size_t axis = Rank; axis-- > 1; i /= sizes[axis]) index[axis] = i % sizes[axis];
    index[0] = i;
    return at(index, fields{}, axes{});
  }
  /// On the CPU, counts the indices instead of dividing, with a plain loop along the last axis.
  void range(std::size_t begin_of, std::size_t end_of) const {
    const cell_loop own = *this;  // a local copy, which no store can alias
    for_rows(sizes, begin_of, end_of,
             [&own](const std::size_t* index, std::size_t n) { own.row(index, n, fields{}, axes{}); });
  }

 private:
  DEVPLACE_HD_CALLS_ANY
  template <std::size_t... I, std::size_t... Axis>
  DEVPLACE_HD auto at(std::size_t* index, std::index_sequence<I...>, std::index_sequence<Axis...>) const {
    for (std::size_t axis = 0; axis != Rank; ++axis) index[axis] += first[axis];
    if constexpr (indexed)
      return f(packed_at<I>(cells).at(offset_of(index, packed_at<I>(cells).strides))...,
               (begin[Axis] + index[Axis])...);
    else
      return f(packed_at<I>(cells).at(offset_of(index, packed_at<I>(cells).strides))...);
  }
  template <std::size_t... I, std::size_t... Axis>
  [[gnu::always_inline]] void row(const std::size_t* of_box, std::size_t n, std::index_sequence<I...>,
                                  std::index_sequence<Axis...>) const {
    std::size_t index[Rank];
    for (std::size_t axis = 0; axis != Rank; ++axis) index[axis] = of_box[axis] + first[axis];
    const packed_list<fields, Cells...> in_row{
        {at_offset(packed_at<I>(cells), offset_of(index, packed_at<I>(cells).strides))}...};
    if constexpr (indexed)
      devplace::detail::independent_loop(0, n, [&](std::size_t k) {
        f(packed_at<I>(in_row).at(static_cast<std::ptrdiff_t>(k))...,
          (begin[Axis] + index[Axis] + (Axis + 1 == Rank ? k : 0))...);
      });
    else
      devplace::detail::independent_loop(
          0, n, [&](std::size_t k) { f(packed_at<I>(in_row).at(static_cast<std::ptrdiff_t>(k))...); });
  }
  template <class One> static One at_offset(One one, std::ptrdiff_t offset) {
    one.first += offset;
    return one;
  }
};

/// A functor that assigns the result of another one to its first argument.
template <class F> struct assigned_result {
  F f;
  DEVPLACE_HD_CALLS_ANY
  template <class T, class... X>
    requires std::is_invocable_v<const F&, const X&...>
  DEVPLACE_HD void operator()(T& to, const X&... from) const {
    to = static_cast<T>(f(from...));
  }
};

}  // namespace devplace::parallel::detail

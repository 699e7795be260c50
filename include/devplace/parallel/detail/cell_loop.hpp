// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <devplace/config.hpp>
#include <devplace/ops/detail/independent_loop.hpp>
#include <devplace/ops/detail/index_rows.hpp>
#include <devplace/ops/detail/tree.hpp>
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

/// The cells of several fields: a trivially copyable tuple.
template <class Sequence, class... Cells> struct packed_cells;
template <std::size_t... I, class... Cells>
struct packed_cells<std::index_sequence<I...>, Cells...> : devplace::detail::branch<I, Cells>... {};
template <std::size_t I, class Cells>
DEVPLACE_HD constexpr const Cells& packed_at(const devplace::detail::branch<I, Cells>& one) {
  return one.child;
}
/// The cells from an index of the part on.
///@{
template <class Cells> DEVPLACE_HD Cells moved_to(Cells cells, const std::size_t* index) {
  cells.first += offset_of(index, cells.strides);
  return cells;
}
template <std::size_t... I, class... Cells>
DEVPLACE_HD packed_cells<std::index_sequence<I...>, Cells...> all_moved_to(
    const packed_cells<std::index_sequence<I...>, Cells...>& cells, const std::size_t* index) {
  return {{moved_to(packed_at<I>(cells), index)}...};
}
///@}

/// Sets the first cells of `to` to those from an index of the part on. A copy of the cells for each row would take
/// longer: g++ copies members in vectors right after a store of one, which processors wait for.
template <std::size_t... I, class... Cells>
[[gnu::always_inline]] inline void move_firsts(packed_cells<std::index_sequence<I...>, Cells...>& to,
                                               const packed_cells<std::index_sequence<I...>, Cells...>& from,
                                               const std::size_t* index) {
  ((static_cast<devplace::detail::branch<I, Cells>&>(to).child.first =
        packed_at<I>(from).first + offset_of(index, packed_at<I>(from).strides)),
   ...);
}

/// Calls a functor with the k-th cells along the last axis and, if `Indexed`, with their indices in the whole field;
/// `index` are those of the cells at k = 0.
DEVPLACE_HD_CALLS_ANY
template <bool Indexed, class F, std::size_t... I, class... Cells, std::size_t... Axis>
[[gnu::always_inline]] DEVPLACE_HD inline auto call_at(const F& f,
                                                       const packed_cells<std::index_sequence<I...>, Cells...>& cells,
                                                       std::size_t k, [[maybe_unused]] const std::size_t* index,
                                                       std::index_sequence<Axis...>) {
  if constexpr (Indexed)
    return f(packed_at<I>(cells).at(static_cast<std::ptrdiff_t>(k))...,
             (index[Axis] + (Axis + 1 == sizeof...(Axis) ? k : 0))...);
  else
    return f(packed_at<I>(cells).at(static_cast<std::ptrdiff_t>(k))...);
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
  packed_cells<fields, Cells...> cells;  ///< from the box's first one on
  std::size_t sizes[Rank];               ///< of the box
  std::size_t begin[Rank];               ///< of the box, within the field

  DEVPLACE_HD_CALLS_ANY
  DEVPLACE_HD auto operator()(std::size_t i) const {
    std::size_t index[Rank];
    devplace::detail::split_index(i, sizes, index);
    const auto cell = all_moved_to(cells, index);
    for (std::size_t axis = 0; axis != Rank; ++axis) index[axis] += begin[axis];
    return call_at<indexed>(f, cell, 0, index, axes{});
  }
  /// On the CPU, with a plain loop along the last axis.
  void range(std::size_t begin_of, std::size_t end_of) const {
    const cell_loop own = *this;  // a local copy, which no store can alias
    auto row = own.cells;
    devplace::detail::for_rows(sizes, begin_of, end_of, [&own, &row](const std::size_t* of_box, std::size_t n) {
      std::size_t index[Rank];
      for (std::size_t axis = 0; axis != Rank; ++axis) index[axis] = own.begin[axis] + of_box[axis];
      move_firsts(row, own.cells, of_box);
      devplace::detail::independent_loop(0, n, [&](std::size_t k) { call_at<indexed>(own.f, row, k, index, axes{}); });
    });
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

// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <concepts>
#include <cstddef>

#include <devplace/base/error.hpp>
#include <devplace/ops/detail/broadcast_shapes.hpp>
#include <devplace/place/axis.hpp>
#include <devplace/tensor/layout.hpp>

namespace devplace::detail {

// The axes of a reduction, given as types, `axis<1>{}, axis<2>{}`, or as numbers. Only types determine the static
// extents of the result.

template <class A> inline constexpr bool is_axis = false;
template <std::size_t N> inline constexpr bool is_axis<axis<N>> = true;

/// Whether axes given as types exist in an array of rank `Rank`, and whether each is given once.
template <std::size_t Rank, class... Axes> inline constexpr bool axes_exist = true;
template <std::size_t Rank, std::size_t... N> inline constexpr bool axes_exist<Rank, axis<N>...> = ((N < Rank) && ...);
template <class... Axes> inline constexpr bool axes_differ = true;
template <std::size_t... N> inline constexpr bool axes_differ<axis<N>...> = all_different<N...>();

[[noreturn]] inline void throw_reduced_axis(long long axis, std::size_t rank) {
  throw argument_error({"the reduced axis ", axis, " does not exist, or is named twice; an array of rank ", rank,
                        " has the axes 0 to rank - 1, or -rank to -1 counted from the end."});
}

/// For every axis of an array, whether it is reduced. Without arguments, all axes are reduced.
template <std::size_t Rank, std::size_t... N> constexpr auto reduced_axes(axis<N>...) {
  std::array<bool, Rank> result{};
  for (std::size_t k = 0; k != Rank; ++k) result[k] = sizeof...(N) == 0 || (... || (k == N));
  return result;
}
template <std::size_t Rank, std::integral... N>
  requires(sizeof...(N) > 0)
auto reduced_axes(N... axes) {
  std::array<bool, Rank> result{};
  for (long long axis : {static_cast<long long>(axes)...}) {
    const auto found = static_cast<std::size_t>(axis < 0 ? axis + static_cast<long long>(Rank) : axis);
    if (found >= Rank || result[found]) throw_reduced_axis(axis, Rank);
    result[found] = true;
  }
  return result;
}

/// The extents of the remaining axes. All extents are dynamic if the reduced axes are given as numbers, because types
/// do not depend on these numbers.
template <class E, std::size_t... N> constexpr auto remaining_extents(const E& e, axis<N>...) {
  if constexpr (sizeof...(N) == 0)
    return extents<>{};
  else
    return extents_of_axes(e, axes_without_t<E::rank, N...>{});
}
template <class E, std::integral... N>
  requires(sizeof...(N) > 0)
auto remaining_extents(const E& e, N... axes) {
  const std::array<bool, E::rank> reduced = reduced_axes<E::rank>(axes...);
  shape left;
  for (std::size_t axis = 0; axis != E::rank; ++axis)
    if (!reduced[axis]) left.extents[left.rank++] = e.extent(axis);
  return extents_from<dextents<(sizeof...(N) < E::rank ? E::rank - sizeof...(N) : 0)>>(left);
}

/// Row-major elements as outer x count x inner, where `count` is the number of elements reduced to one. If the reduced
/// axes are not adjacent, `inner` is only the product of the other axes after the first reduced one.
struct reduction_extents {
  std::size_t outer = 1, count = 1, inner = 1;
  bool one_run = true;  // whether the reduced axes are adjacent
};
template <std::size_t Rank>
constexpr reduction_extents reduction_extents_of(const std::array<std::size_t, Rank>& extents,
                                                 const std::array<bool, Rank>& reduced) {
  reduction_extents result;
  bool begun = false, ended = false;
  for (std::size_t axis = 0; axis != Rank; ++axis) {
    if (reduced[axis]) result.one_run = result.one_run && !ended;
    ended = begun && !reduced[axis];
    begun = begun || reduced[axis];
    (reduced[axis] ? result.count : begun ? result.inner : result.outer) *= extents[axis];
  }
  return result;
}

/// Whether the types allow non-adjacent reduced axes.
template <std::size_t Rank, class... Axes> constexpr bool may_be_scattered() {
  if constexpr ((is_axis<Axes> && ...) && Rank > 2)
    return !reduction_extents_of(std::array<std::size_t, Rank>{}, reduced_axes<Rank>(Axes{}...)).one_run;
  else
    return Rank > 2;
}

}  // namespace devplace::detail

namespace devplace {

/// An axis along which an operation works: `axis<1>{}`, or a number.
template <class A>
concept axis_argument = detail::is_axis<A> || std::integral<A>;

}  // namespace devplace

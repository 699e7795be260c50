// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include <devplace/base/error.hpp>
#include <devplace/config.hpp>
#include <devplace/place/axis.hpp>
#include <devplace/tensor/extents.hpp>
#include <devplace/tensor/layout.hpp>

#define DEVPLACE_DETAIL_PAST_END "an index is past the extent of its axis; indices count from 0."
#define DEVPLACE_DETAIL_NO_AXIS "extent: the array has fewer axes; axes count from 0."
#define DEVPLACE_DETAIL_SELECT \
  "devplace: select(axis<1>{}, index): the first argument is an axis, axis<0>{} to axis<rank - 1>{}."
#define DEVPLACE_DETAIL_SLICE                                                                                        \
  "devplace: slice(axis<1>{}, first, last, step), or slice(first, last) of the first axis: an axis is axis<0>{} to " \
  "axis<rank - 1>{}."
#define DEVPLACE_DETAIL_ONE_INDEX_PER_AXIS \
  "devplace: an element is named by one integer for each axis, x(i, j) for a matrix x; x[i] is a row."
#define DEVPLACE_DETAIL_NOT_REACHABLE \
  "devplace: the host cannot reach these elements; copy them first, with to<cpu>(x), or read one with item(x)."
#define DEVPLACE_DETAIL_PERMUTE \
  "devplace: permute(axis<1>{}, axis<0>{}): name every axis once, from axis<0>{} to axis<rank - 1>{}."
#define DEVPLACE_DETAIL_BROADCAST_TO \
  "devplace: broadcast_to(extents<2, 3>{}): give the shape as extents, with at least the array's axes."
#define DEVPLACE_DETAIL_RESHAPE \
  "devplace: reshape(extents<3, 2>{}) or reshape(extents(n, 2)): give extents with the number of elements of x."
#define DEVPLACE_DETAIL_ASSIGNED_TO_VIEW                                                                       \
  "devplace: a view is assigned an expression or a number; copy(x, other) copies the elements of a tensor or " \
  "view, also from another place, and copy(x, wrap(values, extents<3>{})) copies those of a container."
#define DEVPLACE_DETAIL_CONST_VIEW \
  "devplace: assign: the elements of the view are const; assign to a view of a tensor that is not const."
#define DEVPLACE_DETAIL_FRACTION_ASSIGNED                                                                            \
  "devplace: a number with a fraction is assigned to integer elements, which would cut off the fraction; assign an " \
  "integer."
#define DEVPLACE_DETAIL_ASSIGNED_EXTENTS                                                                           \
  "devplace: assign: the expression's extents cannot be broadcast to the destination's; give the destination the " \
  "expression's extents."

namespace devplace::detail {

/// Whether an expression's extents equal or broadcast to the destination's; defined with assign().
template <class Extents, class Expression> struct assigned_extents;

template <class X> inline constexpr bool is_local_expression = requires { requires X::is_expression; };

template <class X>
inline constexpr bool is_distributed_expression = requires { requires X::is_distributed_expression; };

template <std::size_t Rank, class... Index>
inline constexpr bool is_index_list = sizeof...(Index) == Rank && (std::is_integral_v<Index> && ...);

/// Converts an integer to an index; returns other arguments unchanged.
template <class X> constexpr auto as_index(const X& x) {
  if constexpr (std::is_integral_v<X>)
    return static_cast<std::size_t>(x);
  else
    return x;
}

/// The number of an axis; SIZE_MAX for other types.
template <class X> inline constexpr std::size_t axis_number = SIZE_MAX;
template <std::size_t N> inline constexpr std::size_t axis_number<axis<N>> = N;

/// Whether every axis of an array is named once.
template <std::size_t Rank, std::size_t... Axis>
inline constexpr bool is_order_of_axes = sizeof...(Axis) == Rank && ((Axis < Rank) && ...) && all_different<Axis...>();

template <class Shape, std::size_t Rank> inline constexpr bool has_axes = false;
template <extents_like Shape, std::size_t Rank> inline constexpr bool has_axes<Shape, Rank> = Shape::rank >= Rank;
template <class Shape, std::size_t Rank>
inline constexpr bool has_rank = has_axes<Shape, Rank> && !has_axes<Shape, Rank + 1>;

/// Whether two extents can have the same number of elements.
template <class Extents, class Shape> inline constexpr bool may_be_reshaped = false;
template <class Extents, extents_like Shape>
inline constexpr bool may_be_reshaped<Extents, Shape> =
    !Extents::is_static || !Shape::is_static || Extents{}.size() == Shape{}.size();

// Conditions of DEVPLACE_REFUSED_IF, which clang evaluates for constant arguments. The conditions are templates of the
// arguments' types, because clang would evaluate other functions while the class is incomplete.
/// Whether an index is past the static extent of its axis.
template <class Extents, class... Index> constexpr bool past_end(Index... indices) {
  std::size_t axis = 0;
  bool past = false;
  if constexpr (is_index_list<Extents::rank, Index...>)
    ((past = past || static_cast<std::size_t>(indices) >= Extents::static_extent(axis), ++axis), ...);
  return past;
}

template <class Extents, class Axis> constexpr bool no_axis([[maybe_unused]] Axis axis) {
  if constexpr (Extents::rank == 0)
    return true;  // nvcc warns of comparisons with 0
  else
    return static_cast<std::size_t>(axis) >= Extents::rank;
}

/// The text of a number that may have been negative before its conversion to std::size_t.
inline text_part as_written(std::size_t number) { return static_cast<std::ptrdiff_t>(number); }

DEVPLACE_COMPILABLE([[noreturn]]) void throw_past_end(std::size_t index, std::size_t axis, std::size_t extent) {
  if (index > PTRDIFF_MAX)
    throw argument_error({"index ", as_written(index), " of axis ", axis,
                          " is negative; indices count from 0, and the axis has the extent ", extent, "."});
  throw argument_error({"index ", index, " is past the extent ", extent, " of axis ", axis, "."});
}
DEVPLACE_COMPILED(void throw_past_end(std::size_t, std::size_t, std::size_t))
DEVPLACE_COMPILABLE([[noreturn]]) void throw_no_axis(std::size_t axis, std::size_t rank) {
  throw argument_error({"extent: there is no axis ", as_written(axis), " among ", rank, "; axes count from 0."});
}
DEVPLACE_COMPILED(void throw_no_axis(std::size_t, std::size_t))
[[noreturn]] inline void throw_no_slice(std::size_t first, std::size_t last, std::size_t step, std::size_t axis,
                                        std::size_t extent) {
  throw argument_error({"slice ", as_written(first), " to ", as_written(last), " by ", as_written(step),
                        " does not lie in axis ", axis, ", whose extent is ", extent,
                        "; indices count from 0, steps from 1, and none is negative."});
}
/// Counts every `step`-th index of an axis from `first` to `last`; throws for indices outside of the axis.
constexpr std::size_t extent_of_slice(std::size_t first, std::size_t last, std::size_t step, std::size_t axis,
                                      std::size_t extent) {
  if (first > last || last > extent || step == 0 || step > PTRDIFF_MAX)  // a step above PTRDIFF_MAX was negative
    throw_no_slice(first, last, step, axis, extent);
  return (last - first) / step + ((last - first) % step != 0);
}
DEVPLACE_COMPILABLE([[noreturn]])
void throw_reshape(std::span<const std::size_t> from, std::span<const std::size_t> to) {
  const auto count = [](std::span<const std::size_t> sizes) {
    std::size_t product = 1;
    for (const std::size_t size : sizes) product *= size;
    return product;
  };
  throw shape_error({"reshape from ", sizes_text(from), " to ", sizes_text(to),
                     " would change the number of elements from ", count(from), " to ", count(to), "."});
}
DEVPLACE_COMPILED(void throw_reshape(std::span<const std::size_t>, std::span<const std::size_t>))
[[noreturn]] inline void throw_no_strides(std::span<const std::size_t> from, std::span<const std::ptrdiff_t> strides,
                                          std::span<const std::size_t> to) {
  throw shape_error(
      {"reshape from ", sizes_text(from), " with strides ", sizes_text(strides), " to ", sizes_text(to),
       " needs another order of the elements in memory; make a row-major copy first, with to<on<...>>(x)."});
}
[[noreturn]] inline void throw_no_broadcast(std::span<const std::size_t> from, std::span<const std::size_t> to) {
  throw shape_error({"broadcast_to: ", sizes_text(from), " cannot be broadcast to ", sizes_text(to),
                     ": aligned at the last axis, extents must be equal, or 1 in the view."});
}

}  // namespace devplace::detail

// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <devplace/config.hpp>
#include <devplace/place/error.hpp>
#include <devplace/tensor/extents.hpp>

namespace devplace {

/// Appears in the compiler's message when a view is constructed from a pointer and sizes in braces.
struct GIVE_THE_SHAPE_AS_extents;
/// Appears in the compiler's message when a view is assigned to a view.
struct USE_copy_TO_COPY_ELEMENTS;
/// Appears in the compiler's message when something else than an expression or a number is assigned.
struct ASSIGN_AN_EXPRESSION_OR_A_NUMBER_OR_USE_copy;

}  // namespace devplace

#define DEVPLACE_DETAIL_PAST_END "an index is past the extent of its axis; indices count from 0."
#define DEVPLACE_DETAIL_NO_AXIS "extent: the array has fewer axes than this one; they count from 0."
#define DEVPLACE_DETAIL_ASSIGNED_EXTENTS                                                                           \
  "devplace: assign: the expression's extents cannot be broadcast to the destination's; give the destination the " \
  "expression's extents."

namespace devplace::detail {

/// Whether an expression's extents equal or broadcast to those of the destination; defined with assign().
template <class Extents, class Expression>
struct assigned_extents;

// For DEVPLACE_REFUSED_IF, which asks where the arguments are constants. Templates of the argument's type, because
// clang would otherwise ask while the class is incomplete.
/// Whether an index is past the extent that the type says.
template <class Extents, class... Index>
constexpr bool past_end(Index... indices) {
  std::size_t axis = 0;
  bool past = false;
  ((past = past || indices >= Extents::static_extent(axis), ++axis), ...);
  return past;
}

/// Whether there is no such axis.
template <class Extents, class Axis>
constexpr bool no_axis(Axis axis) {
  return static_cast<std::size_t>(axis) >= Extents::rank;
}

/// A negative number that was given where they count from 0 as it was written.
inline std::string as_written(std::size_t number) {
  return std::to_string(static_cast<std::ptrdiff_t>(number));
}

[[noreturn]] inline void throw_past_end(std::size_t index, std::size_t axis, std::size_t extent) {
  if (index > PTRDIFF_MAX)
    throw argument_error("index " + as_written(index) + " of axis " + std::to_string(axis) +
                         " is negative; indices count from 0, and the axis has the extent " + std::to_string(extent) +
                         ".");
  throw argument_error("index " + std::to_string(index) + " is past the extent " + std::to_string(extent) +
                       " of axis " + std::to_string(axis) + ".");
}
[[noreturn]] inline void throw_no_axis(std::size_t axis, std::size_t rank) {
  throw argument_error("extent: there is no axis " + as_written(axis) + " among " + std::to_string(rank) +
                       "; axes count from 0.");
}
[[noreturn]] inline void throw_no_slice(std::size_t first, std::size_t last, std::size_t step, std::size_t axis,
                                        std::size_t extent) {
  throw argument_error("slice " + as_written(first) + " to " + as_written(last) + " by " + as_written(step) +
                       " does not lie in axis " + std::to_string(axis) + ", whose extent is " + std::to_string(extent) +
                       "; indices count from 0, steps from 1, and none is negative.");
}
/// The extent of every `step`-th index of an axis from `first` to `last`; throws unless they lie in it.
constexpr std::size_t extent_of_slice(std::size_t first, std::size_t last, std::size_t step, std::size_t axis,
                                      std::size_t extent) {
  if (first > last || last > extent || step == 0 || step > PTRDIFF_MAX)  // which was a negative number
    throw_no_slice(first, last, step, axis, extent);
  return (last - first) / step + ((last - first) % step != 0);
}
[[noreturn]] inline void throw_reshape(std::span<const std::size_t> from, std::span<const std::size_t> to) {
  const auto count = [](std::span<const std::size_t> sizes) {
    std::size_t product = 1;
    for (const std::size_t size : sizes)
      product *= size;
    return std::to_string(product);
  };
  throw shape_error("reshape from " + sizes_text(from) + " to " + sizes_text(to) +
                    " would change the number of elements from " + count(from) + " to " + count(to) + ".");
}
[[noreturn]] inline void throw_no_strides(std::span<const std::size_t> from, std::span<const std::size_t> strides,
                                          std::span<const std::size_t> to) {
  throw shape_error("reshape from " + sizes_text(from) + " with strides " + sizes_text(strides) + " to " +
                    sizes_text(to) +
                    " needs another order of the elements in memory; make a row-major copy first, "
                    "with to<on<...>>(x).");
}
[[noreturn]] inline void throw_no_broadcast(std::span<const std::size_t> from, std::span<const std::size_t> to) {
  throw shape_error("broadcast_to: " + sizes_text(from) + " cannot be broadcast to " + sizes_text(to) +
                    ": aligned at the last axis, extents must be equal or that of the view 1.");
}

}  // namespace devplace::detail

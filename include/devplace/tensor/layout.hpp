// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <devplace/place/axis.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/tensor/extents.hpp>

// Template parameters of views: the place and the order of elements.

namespace devplace {

namespace detail {

/// The device of a view: part of the type if `Where` is a place, a stored ordinal for `here<Backend>`.
template <class Where> struct device_of;

template <place P> struct device_of<P> {
  using backend_type = backend_of_t<P>;
  static constexpr int ordinal() { return place_traits<P>::ordinal; }
};

template <class Backend> struct device_of<here<Backend>> {
  using backend_type = Backend;
  constexpr device_of() = default;
  constexpr device_of(int ordinal) : ordinal_(ordinal) {}
  constexpr int ordinal() const { return ordinal_; }

 private:
  int ordinal_ = 0;
};

}  // namespace detail

/// Placements of views: one place, or a device of a backend, given by its ordinal at run time.
template <class Where>
concept view_placement = requires { typename detail::device_of<Where>::backend_type; };

/// Layout of views with contiguous elements in row-major order, like a tensor's.
struct row_major {};
/// Layout of transposed(): the last two axes are a column-major matrix.
struct column_major {};
/// Layout of views with a stride per axis, in elements: slices, permuted axes, broadcast elements, the user's memory.
struct strided {};

/// A view's memory layout: `row_major`, `column_major` or `strided`.
template <class L>
concept view_layout = std::same_as<L, row_major> || std::same_as<L, column_major> || std::same_as<L, strided>;

namespace detail {

/// The strides that a view stores; empty for layouts without strides.
template <class Layout, std::size_t Rank> struct layout_strides {};
template <std::size_t Rank> struct layout_strides<strided, Rank> {
  std::array<std::ptrdiff_t, Rank> values{};
};

/// The axes of an array of rank `Rank` except those in `Left`, which differ, in ascending order, as an index sequence.
template <std::size_t Rank, std::size_t... Left> struct axes_without {
  static constexpr std::size_t axis(std::size_t k) {
    std::size_t result = 0;
    while ((... || (result == Left)) || k-- != 0) ++result;
    return result;
  }
  template <std::size_t... K> static constexpr auto sequence(std::index_sequence<K...>) {
    return std::index_sequence<axis(K)...>{};
  }
  static constexpr bool exist = ((Left < Rank) && ...);  // otherwise Rank - sizeof...(Left) may wrap around
  static_assert(exist, "devplace: the array has no such axis; axes count from 0 to rank - 1.");
  using type = decltype(sequence(std::make_index_sequence<exist ? Rank - sizeof...(Left) : 0>{}));
};
template <std::size_t Rank, std::size_t... Left> using axes_without_t = typename axes_without<Rank, Left...>::type;

template <std::size_t... Axis> constexpr bool all_different() {
  const std::size_t list[] = {Axis..., 0};
  for (std::size_t a = 0; a != sizeof...(Axis); ++a)
    for (std::size_t b = 0; b != a; ++b)
      if (list[a] == list[b]) return false;
  return true;
}

template <std::size_t... E, std::size_t... Axis>
constexpr auto extents_of_axes([[maybe_unused]] const extents<E...>& e, std::index_sequence<Axis...>) {
  using result = extents<extents<E...>::static_extent(Axis)...>;
  if constexpr (result::is_static)
    return result{};
  else
    return result(e.extent(Axis)...);
}

/// An extents type without some of its axes.
template <class E, std::size_t... Left>
using extents_without_t = decltype(extents_of_axes(E{}, axes_without_t<E::rank, Left...>{}));

constexpr std::size_t magnitude(std::ptrdiff_t stride) {
  return stride < 0 ? 0 - static_cast<std::size_t>(stride) : static_cast<std::size_t>(stride);
}

/// `count` elements lie between the lowest and the highest address that strides reach, both inclusive. `before` of them
/// precede the first element, because of negative strides. `count` is 0 without elements, and SIZE_MAX if the strides
/// exceed the address space.
struct element_span {
  std::size_t count, before = 0;
};
constexpr element_span spanned(std::span<const std::size_t> extents, std::span<const std::ptrdiff_t> strides) {
  element_span all{1};
  for (std::size_t axis = 0; axis != extents.size(); ++axis) {
    if (extents[axis] == 0) return {0};
    const std::size_t stride = magnitude(strides[axis]), steps = extents[axis] - 1;
    if (all.count == SIZE_MAX || (steps != 0 && stride > (PTRDIFF_MAX - all.count + 1) / steps))
      all.count = SIZE_MAX;
    else
      all.count += steps * stride, all.before += strides[axis] < 0 ? steps * stride : 0;
  }
  return all;
}

constexpr bool is_contiguous(std::span<const std::size_t> extents, std::span<const std::ptrdiff_t> strides) {
  std::size_t step = 1;
  bool contiguous = true;
  for (std::size_t axis = extents.size(); axis-- != 0; step *= extents[axis])
    contiguous = contiguous && (extents[axis] == 1 || strides[axis] == static_cast<std::ptrdiff_t>(step));
  return contiguous || step == 0;
}

/// Computes strides that broadcast the elements to a shape of at least as many axes; false if the extents do not fit.
constexpr bool broadcast_strides(std::span<const std::size_t> extents, std::span<const std::ptrdiff_t> strides,
                                 std::span<const std::size_t> shape, std::span<std::ptrdiff_t> result) {
  const std::size_t before = shape.size() - extents.size();
  for (std::size_t axis = 0; axis != extents.size(); ++axis) {
    if (extents[axis] != shape[before + axis] && extents[axis] != 1) return false;
    result[before + axis] = extents[axis] == 1 ? 0 : strides[axis];
  }
  return true;
}

/// Computes the strides of another shape of equal size, with the elements in the same order; false if none exist.
constexpr bool reshape_strides(std::span<const std::size_t> extents, std::span<const std::ptrdiff_t> strides,
                               std::span<const std::size_t> shape, std::span<std::ptrdiff_t> result) {
  // Goes from the last axis to the first: `left` elements, `step` apart, remain for axes of the new shape.
  std::size_t axis = extents.size(), left = 1;
  std::ptrdiff_t step = 1;
  bool empty = false;
  for (const std::size_t extent : extents) empty = empty || extent == 0;
  for (std::size_t k = shape.size(); k-- != 0;) {
    for (; left == 1 && axis != 0 && shape[k] != 1 && !empty; --axis)
      left = extents[axis - 1], step = strides[axis - 1];
    for (; axis != 0 && !empty &&
           (extents[axis - 1] == 1 || strides[axis - 1] == step * static_cast<std::ptrdiff_t>(left));
         --axis)
      left *= extents[axis - 1];
    if (!empty && left % shape[k] != 0) return false;
    result[k] = step;
    step *= static_cast<std::ptrdiff_t>(shape[k]);
    left = empty ? 1 : left / shape[k];
  }
  return true;
}

}  // namespace detail
}  // namespace devplace

// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <utility>

#include <devplace/tensor/extents.hpp>

namespace devplace::detail {

/// The extents, with `Size` (a number or dyn) for axis `Axis`.
template <class Extents, std::size_t Axis, std::size_t Size, class = std::make_index_sequence<Extents::rank>>
struct with_axis;
template <std::size_t... E, std::size_t Axis, std::size_t Size, std::size_t... Axes>
struct with_axis<extents<E...>, Axis, Size, std::index_sequence<Axes...>> {
  using type = extents<(Axes == Axis ? Size : E)...>;
  static constexpr type with(std::size_t size, const extents<E...>& e) {
    return type((Axes == Axis ? size : e.extent(Axes))...);
  }
};
/// The extents, with dyn for axis `Axis`: a batch of any size, or a part of a split axis.
template <class Extents, std::size_t Axis = 0> using with_dynamic_axis = with_axis<Extents, Axis, dyn>;

}  // namespace devplace::detail

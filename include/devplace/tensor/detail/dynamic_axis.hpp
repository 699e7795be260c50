// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <utility>

#include <devplace/tensor/extents.hpp>

namespace devplace::detail {

/// Extents with axis `Axis` dynamic and the others unchanged: a batch of any size, or a part of a split axis.
template <class Extents, std::size_t Axis, class Axes>
struct dynamic_axis_of;
template <std::size_t... E, std::size_t Axis, std::size_t... Axes>
struct dynamic_axis_of<extents<E...>, Axis, std::index_sequence<Axes...>> {
  using type = extents<(Axes == Axis ? dyn : E)...>;
  static constexpr type with(std::size_t size, const extents<E...>& e) {
    return type((Axes == Axis ? size : e.extent(Axes))...);
  }
};
template <class Extents, std::size_t Axis = 0>
struct with_dynamic_axis : dynamic_axis_of<Extents, Axis, std::make_index_sequence<Extents::rank>> {};

}  // namespace devplace::detail

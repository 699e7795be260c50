// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include <devplace/place/kind.hpp>
#include <devplace/place/mesh.hpp>
#include <devplace/place/placement.hpp>

namespace devplace {

/// A mesh of places each of whose axes splits the axis of a field with the same number: the number of parts along axis
/// 0, axis 1, ... `sharded<grid<2, 2>, 0, 1, 2, 3>` has the upper halves of the rows on cuda<0> and cuda<1>, and on
/// cuda<0> and cuda<2> the left halves of the columns. Over processes one number may be `dyn`:
/// `across<sharded_on<grid<dyn, 2>, cpu>>`. Places are numbered in row-major order. For fields (parallel/field.hpp).
template <std::size_t... Parts> struct grid {};

/// Kind of a placement: places have parts along several axes, `Parts` along axis 0, axis 1, ...
template <std::size_t... Parts> struct split_over : detail::kind_properties {
  static constexpr bool is_grid = true;                                        ///< distinguishes this kind
  static constexpr std::array<std::size_t, sizeof...(Parts)> parts{Parts...};  ///< numbers of parts
};

template <std::size_t... Parts, class... P>
struct placement_traits<sharded_on<grid<Parts...>, P...>> : detail::kind_on_mesh<split_over<Parts...>, devices<P...>> {
};

namespace detail {

template <std::size_t... Parts> std::string kind_name(split_over<Parts...>) {
  std::string names;
  (names.append(names.empty() ? "" : ", ").append(Parts == dyn ? "dyn" : std::to_string(Parts)), ...);
  return joined({"sharded<grid<", names, ">, "});
}

/// Number of participants that a grid needs, or a multiple of it if a number is `dyn`.
template <class Kind> constexpr std::size_t parts_of_grid(Kind) {
  std::size_t count = 1;
  for (const std::size_t n : Kind::parts) count *= n == dyn ? 1 : n;
  return count;
}

}  // namespace detail

}  // namespace devplace

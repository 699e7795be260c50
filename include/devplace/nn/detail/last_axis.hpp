// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <devplace/nn/detail/fit.hpp>
#include <devplace/tensor/extents.hpp>

namespace devplace::nn::detail {

/// The input extents of a layer on a last axis of `Width` elements: `X` if its last axis has `Width` elements,
/// otherwise vectors of `Width` elements.
template <class X, std::size_t Width> struct last_axis {
  static constexpr bool fits = [] {
    if constexpr (X::rank == 0)
      return false;
    else
      return X::static_extent(X::rank - 1) == Width;
  }();
  using type = std::conditional_t<fits, X, extents<Width>>;
  using expected = std::conditional_t<!fits && X{}.size() == Width, flattened<type>, type>;

  template <std::size_t Other, std::size_t... Axis>
  static auto replaced(std::index_sequence<Axis...>) -> extents<type::static_extent(Axis)..., Other>;

  /// `type` with its last axis replaced.
  template <std::size_t Other> using with = decltype(replaced<Other>(std::make_index_sequence<type::rank - 1>{}));
};

/// `X` followed by an axis of extent `Width`.
template <class X, std::size_t Width> struct with_axis_behind;
template <std::size_t... Extent, std::size_t Width> struct with_axis_behind<extents<Extent...>, Width> {
  using type = extents<Extent..., Width>;
};

}  // namespace devplace::nn::detail

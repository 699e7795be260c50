// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/nn/flatten.hpp>

namespace devplace::nn {

/// Gives the extents of one sample if the first layer does not: `sequential<input<28, 28>, flatten, linear<784, 10>>`.
/// Passes the input on.
template <std::size_t... E> struct input : flatten {
  static_assert(detail::check_sizes<E...>());
  /// Members that layer_for requires.
  ///@{
  template <class In> using output = In;
  using input_extents = extents<E...>;
  ///@}
};

}  // namespace devplace::nn

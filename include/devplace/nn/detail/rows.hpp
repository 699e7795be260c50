// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/tensor/view.hpp>

namespace devplace::nn::detail {

/// A batch as a matrix: all axes but the last are merged into rows.
template <class View>
auto rows(const View& x) {
  constexpr std::size_t columns = View::extents_type::static_extent(View::rank - 1);
  return x.reshape(extents<dyn, columns>{x.size() / columns});
}

/// A batch as one axis, for elementwise layers: their expressions are compiled once for all sizes.
template <class View>
auto flat(const View& x) {
  return x.reshape(extents<dyn>{x.size()});
}

}  // namespace devplace::nn::detail

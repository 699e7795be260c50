// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <bit>
#include <cstddef>

#include <devplace/base/error.hpp>
#include <devplace/tensor/extents.hpp>
#include <devplace/tensor/layout.hpp>
#include <devplace/tensor/view.hpp>

namespace devplace::nn::detail {

template <class Array> std::size_t row_count(const Array& x) {
  std::size_t count = 1;
  for (std::size_t axis = 0; axis + 1 < Array::rank; ++axis) count *= x.extent(axis);
  return count;
}

/// Requires labels [n, ...] for an output [n, ..., classes]; throws shape_error for other labels. Returns `auto`, so
/// that compilers instantiate the function where it is called and show the user's line.
template <class Output, class Labels>
auto require_label_of_each_row(const char* loss, const Output& output, const Labels& labels) {
  using rows = devplace::detail::extents_without_t<typename Output::extents_type, Output::rank - 1>;
  constexpr bool may_fit = devplace::detail::compatible<rows, typename Labels::extents_type>;
  static_assert(may_fit,
                "devplace: cross_entropy and nll take labels with the extents of the output without its last axis, the "
                "classes; if the classes are the channels of images, put nn::permute<1, 2, 0> behind the "
                "network's layers.");
  bool fits = true;
  for (std::size_t axis = 0; axis != Labels::rank; ++axis) fits &= labels.extent(axis) == output.extent(axis);
  if (!fits)
    throw shape_error({loss, ": the output is ", devplace::detail::to_string(output.extents()), " and labels are ",
                       devplace::detail::to_string(labels.extents()),
                       "; labels have the output's extents without the last one, the number of classes."});
}

/// Views a batch as a matrix: merges all axes but the last into rows.
template <class View> auto rows(const View& x) {
  constexpr std::size_t columns = View::extents_type::static_extent(View::rank - 1);
  if constexpr (columns == dyn)
    return x.reshape(extents<dyn, dyn>{row_count(x), x.extent(View::rank - 1)});
  else
    return x.reshape(extents<dyn, columns>{row_count(x)});
}

/// Views a row-major batch as one axis, so that elementwise expressions compile once for all sizes. The extents are
/// made from their bits, since the elements exist.
template <class View> auto flat(const View& x) {
  return view<typename View::element_type, extents<dyn>, typename View::placement_type>(
      x.data(), std::bit_cast<extents<dyn>>(x.size()), x.device());
}

}  // namespace devplace::nn::detail

// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <devplace/tensor/tensor.hpp>

namespace devplace {

namespace detail {

/// A matrix or an array of matrices.
template <class X>
concept transposable = tensor_like<X> && (std::remove_cvref_t<X>::rank >= 2);

}  // namespace detail

/// Returns a view of x with the last two axes exchanged: the transpose of a matrix, or of each matrix in an array of
/// matrices. The result is column-major if x is row-major, row-major if x is column-major, otherwise strided. Copies
/// nothing, so x must outlive the view; matmul reads such views without a copy.
template <class X> constexpr auto transposed(X&& x) {
  constexpr bool is_matrix = detail::transposable<X>, kept = !detail::is_tensor<X>;
  static_assert(is_matrix,
                "devplace: transposed: only matrices and arrays of them, tensors or views of rank 2 or more, can be "
                "transposed.");
  static_assert(!is_matrix || kept,
                "devplace: transposed: a temporary tensor would be gone before the product; give it a name first.");
  if constexpr (is_matrix && kept) {
    const auto window = detail::as_any_view(x);
    constexpr std::size_t rank = std::remove_const_t<decltype(window)>::rank;
    using window_type = std::remove_const_t<decltype(window)>;
    const auto exchanged = [&]<std::size_t... Axis>(std::index_sequence<Axis...>) {
      return window.permute(axis<Axis + 2 < rank ? Axis : 2 * rank - 3 - Axis>{}...);
    }(std::make_index_sequence<rank>{});
    if constexpr (window_type::is_strided)
      return exchanged;
    else
      return view<typename window_type::element_type, std::remove_cvref_t<decltype(exchanged.extents())>,
                  typename window_type::placement_type,
                  std::conditional_t<window_type::is_row_major, column_major, row_major>>(
          detail::raw_data(exchanged), exchanged.extents(), exchanged.device());
  } else {
    return detail::refusal{};
  }
}

}  // namespace devplace

// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <devplace/base/error.hpp>
#include <devplace/memory/detail/share_memory.hpp>
#include <devplace/memory/device_pointer.hpp>
#include <devplace/ops/detail/broadcast_shapes.hpp>
#include <devplace/tensor/layout.hpp>

// Shapes of matrix products, and the operands' storage in BLAS's terms.
namespace devplace::detail {

/// The extents of an array of matrices without the last two.
template <class E> using leading_extents_t = extents_without_t<E, E::rank - 2, E::rank - 1>;

template <class Leading, std::size_t Rows, std::size_t Columns> struct matrices;
template <std::size_t... Leading, std::size_t Rows, std::size_t Columns>
struct matrices<extents<Leading...>, Rows, Columns> {
  using type = extents<Leading..., Rows, Columns>;
};

/// Static rows and columns of the last two axes.
template <class E> inline constexpr std::size_t rows_in = E::static_extent(E::rank - 2);
template <class E> inline constexpr std::size_t columns_in = E::static_extent(E::rank - 1);

/// The extents type of the product of two arrays of matrices.
template <class A, class B>
using product_extents_t =
    typename matrices<broadcast_t<leading_extents_t<A>, leading_extents_t<B>>, rows_in<A>, columns_in<B>>::type;

[[noreturn]] inline void throw_inner_extents(std::span<const std::size_t> a, std::span<const std::size_t> b) {
  throw shape_error({"matmul: the first operand is ", sizes_text(a), " and the second ", sizes_text(b),
                     "; the columns of the first must be as many as the rows of the second. Write transposed(x) "
                     "for an operand that is stored the other way round."});
}

/// The extents of a product; throws shape_error if run-time extents do not match.
template <class A, class B> auto product_extents(const A& a, const B& b) {
  if (a.extent(A::rank - 1) != b.extent(B::rank - 2)) throw_inner_extents(sizes_of(a), sizes_of(b));
  shape leading_a = shape_of(a), leading_b = shape_of(b);
  leading_a.rank -= 2, leading_b.rank -= 2;
  shape product = broadcast_shapes(leading_a, leading_b, "matmul: leading extents: ");
  product.extents[product.rank++] = a.extent(A::rank - 2);
  product.extents[product.rank++] = b.extent(B::rank - 1);
  return extents_from<product_extents_t<A, B>>(product);
}

[[noreturn]] inline void throw_product_extents(std::span<const std::size_t> c, std::span<const std::size_t> a,
                                               std::span<const std::size_t> b, std::span<const std::size_t> product) {
  throw shape_error({"matmul: the result is ", sizes_text(c), " and the product of ", sizes_text(a), " by ",
                     sizes_text(b), " is ", sizes_text(product), "."});
}

/// The memory of a product's result or operand, with elements of `element` bytes.
struct matrix_memory {
  const void* data;  // the lowest address
  std::size_t element;
  std::span<const std::size_t> extents, strides;  // without signs: the same memory, from its lowest address on

  /// Bytes from the first element to the end of the last one. With a period, ignores axes whose strides are multiples
  /// of `period` elements.
  std::size_t bytes(std::size_t period = 0) const {
    std::size_t last = 0;
    for (std::size_t axis = 0; axis != extents.size(); ++axis) {
      if (extents[axis] == 0) return 0;
      if (period == 0 || strides[axis] % period != 0) last += (extents[axis] - 1) * strides[axis];
    }
    return (last + 1) * element;
  }
};

/// The strides without their signs.
template <std::size_t Rank> std::array<std::size_t, Rank> magnitudes(const std::array<std::ptrdiff_t, Rank>& strides) {
  std::array<std::size_t, Rank> result{};
  for (std::size_t axis = 0; axis != Rank; ++axis) result[axis] = magnitude(strides[axis]);
  return result;
}

/// The lowest address of a view's elements.
template <class View> auto* lowest_address(const View& x) {
  return raw_data(x) - spanned(sizes_of(x.extents()), x.strides()).before;
}

/// Whether writing the result could change the operand. Compares addresses modulo the result's row stride to recognise
/// disjoint blocks of columns of one matrix. Compares addresses modulo the result's other strides likewise.
inline bool overlap(const matrix_memory& result, const matrix_memory& operand) {
  if (!share_memory(result.data, result.bytes(), operand.data, operand.bytes())) return false;
  const auto to = reinterpret_cast<std::uintptr_t>(result.data), from = reinterpret_cast<std::uintptr_t>(operand.data);
  for (const std::size_t stride : result.strides) {
    const std::size_t period = stride * result.element;
    if (period == 0) continue;
    const std::size_t distance = from >= to ? (from - to) % period : period - 1 - (to - from - 1) % period;
    if (result.bytes(stride) <= distance && distance + operand.bytes(stride) <= period) return false;
  }
  return true;
}

[[noreturn]] inline void throw_product_overlaps() {
  throw argument_error(
      "matmul: the result overlaps an operand, which would be overwritten while it is read; write the product to "
      "memory of its own, as matmul(a, b) does, and copy it.");
}

/// A matrix in BLAS's terms: `ld` is the leading dimension; 0 if BLAS cannot read the matrix.
struct blas_matrix {
  bool transposed = false;
  std::size_t ld = 0;
};
constexpr blas_matrix blas_matrix_of(std::size_t rows, std::size_t columns, std::size_t row_stride,
                                     std::size_t column_stride) {
  if (column_stride == 1 && row_stride >= columns) return {false, row_stride};
  if (row_stride == 1 && column_stride >= rows) return {true, column_stride};
  // The stride along an axis of extent 1 is irrelevant.
  if (columns <= 1 && row_stride != 0) return {false, row_stride};
  if (rows <= 1 && column_stride != 0) return {true, column_stride};
  return {};
}
template <class View> constexpr blas_matrix blas_matrix_of(const View& x) {
  constexpr std::size_t row = View::rank - 2, column = View::rank - 1;
  if constexpr (View::is_row_major)
    return {false, x.extent(column)};
  else if constexpr (!View::is_strided)
    return {true, x.extent(row)};
  else if (const auto strides = x.strides(); std::any_of(strides.begin(), strides.end(), [](auto s) { return s < 0; }))
    return {};
  else
    return blas_matrix_of(x.extent(row), x.extent(column), magnitude(x.stride(row)), magnitude(x.stride(column)));
}

}  // namespace devplace::detail

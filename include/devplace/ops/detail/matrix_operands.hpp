// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include <devplace/base/error.hpp>
#include <devplace/config.hpp>
#include <devplace/memory/device_pointer.hpp>
#include <devplace/ops/detail/broadcast_shapes.hpp>
#include <devplace/ops/detail/distributed.hpp>
#include <devplace/ops/detail/operand.hpp>
#include <devplace/ops/detail/operands.hpp>
#include <devplace/ops/detail/product_arguments.hpp>
#include <devplace/tensor/dtype.hpp>
#include <devplace/tensor/extents.hpp>
#include <devplace/tensor/layout.hpp>
#include <devplace/tensor/precision.hpp>

// Shapes of matrix products, and the operands' storage in BLAS's terms.

namespace devplace::detail {

/// The extents of an array of matrices without the last two.
template <class E> using leading_extents_t = extents_without_t<E, E::rank - 2, E::rank - 1>;

template <class Leading, std::size_t Rows, std::size_t Columns> struct matrices;
template <std::size_t... Leading, std::size_t Rows, std::size_t Columns>
struct matrices<extents<Leading...>, Rows, Columns> : std::type_identity<extents<Leading..., Rows, Columns>> {};

template <class E> inline constexpr std::size_t rows_in = E::static_extent(E::rank - 2);
template <class E> inline constexpr std::size_t columns_in = E::static_extent(E::rank - 1);

template <class A, class B>
using product_extents_t =
    typename matrices<broadcast_t<leading_extents_t<A>, leading_extents_t<B>>, rows_in<A>, columns_in<B>>::type;

DEVPLACE_COMPILABLE([[noreturn]])
void throw_inner_extents(std::span<const std::size_t> a, std::span<const std::size_t> b) {
  throw shape_error({"matmul: the first operand is ", sizes_text(a), " and the second ", sizes_text(b),
                     "; the columns of the first must be as many as the rows of the second. Write transposed(x) "
                     "for an operand that is stored the other way round."});
}
DEVPLACE_COMPILED(void throw_inner_extents(std::span<const std::size_t>, std::span<const std::size_t>))

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

DEVPLACE_COMPILABLE([[noreturn]])
void throw_product_extents(std::span<const std::size_t> c, std::span<const std::size_t> a,
                           std::span<const std::size_t> b, std::span<const std::size_t> product) {
  throw shape_error({"matmul: the result is ", sizes_text(c), " and the product of ", sizes_text(a), " by ",
                     sizes_text(b), " is ", sizes_text(product), "."});
}
DEVPLACE_COMPILED(void throw_product_extents(std::span<const std::size_t>, std::span<const std::size_t>,
                                             std::span<const std::size_t>, std::span<const std::size_t>))

/// The memory of a product's result or operand, with elements of `element` bytes.
struct matrix_memory {
  const void* data;  // the lowest address
  std::size_t element;
  std::span<const std::size_t> extents, strides;  // magnitudes of the strides

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

template <std::size_t Rank> std::array<std::size_t, Rank> magnitudes(const std::array<std::ptrdiff_t, Rank>& strides) {
  std::array<std::size_t, Rank> result{};
  for (std::size_t axis = 0; axis != Rank; ++axis) result[axis] = magnitude(strides[axis]);
  return result;
}

template <class View> auto* lowest_address(const View& x) {
  return raw_data(x) - spanned(sizes_of(x.extents()), x.strides()).before;
}

/// Whether writing the result could change the operand. Compares addresses modulo each stride of the result: modulo the
/// row stride, for example, disjoint blocks of columns of one matrix have disjoint addresses.
DEVPLACE_COMPILABLE() bool overlap(const matrix_memory& result, const matrix_memory& operand) {
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
DEVPLACE_COMPILED(bool overlap(const matrix_memory&, const matrix_memory&))

/// Whether writing the elements of the view `to` could change those of the view `from`.
template <class To, class From> bool overlap(const To& to, const From& from) {
  const auto to_sizes = sizes_of(to.extents()), to_strides = magnitudes(to.strides());
  const auto from_sizes = sizes_of(from.extents()), from_strides = magnitudes(from.strides());
  return overlap(matrix_memory{lowest_address(to), sizeof(*raw_data(to)), to_sizes, to_strides},
                 matrix_memory{lowest_address(from), sizeof(*raw_data(from)), from_sizes, from_strides});
}

DEVPLACE_COMPILABLE([[noreturn]]) void throw_product_overlaps() {
  throw argument_error(
      "matmul: the result overlaps an operand, which would be overwritten while it is read; write the product to "
      "memory of its own, as matmul(a, b) does, and copy it.");
}
DEVPLACE_COMPILED(void throw_product_overlaps())

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

/// A precision, or void for the precision of the operands' element type.
template <class P>
concept precision_or_own = std::is_void_v<P> || precision<P>;

/// Arguments that a product on one place takes or rejects with an error message. Tensors over several places:
/// distributed_matmul.hpp.
template <class A, class B>
concept product_arguments = accepted_argument<const A&> && accepted_argument<const B&> &&
                            !(tensor_like<A> && tensor_like<B> && (distributed_tensor<A> || distributed_tensor<B>));

/// The arithmetic of products in a precision.
template <precision P>
inline constexpr product_math math_of = std::is_same_v<P, tf32> ? product_math::tf32 : product_math::strict;

/// The precision of a product of elements `T`: P unless it is void.
template <class P, class T> struct product_precision : std::type_identity<P> {};
template <class T> struct product_precision<void, T> : std::type_identity<T> {};
template <half_precision_element T> struct product_precision<void, T> : std::type_identity<mixed<T>> {};
template <class P, class T> using own_precision = typename product_precision<P, T>::type;

/// The precision of a product of operand A's elements; float where check_product() rejects the operand.
template <class A> struct operand_precision : std::type_identity<float> {};
template <tensor_like A>
  requires precision<own_precision<void, operand_element_t<A>>>
struct operand_precision<A> : std::type_identity<own_precision<void, operand_element_t<A>>> {};

#define DEVPLACE_DETAIL_PRODUCT_APART \
  "devplace: matmul: the operands live on different places; move them to one with to<on<...>>(x) first."

/// Whether the types allow a product; if not, an assertion fails.
template <class P, class A, class B> constexpr bool check_product() {
  constexpr bool stored = tensor_like<A> && tensor_like<B> && none_distributed<A, B>;
  static_assert(stored,
                "devplace: matmul: the operands must be tensors or views; give evaluated(a + b) of an expression. "
                "matmul_into takes operands on one place.");
  if constexpr (stored) {
    using a = operand_extents_t<A>;
    using b = operand_extents_t<B>;
    using value = operand_element_t<A>;
    constexpr bool together = on_one_device<A, B>, same = std::is_same_v<value, operand_element_t<B>>,
                   floating = !same || is_floating<value> || half_precision_element<value>,
                   of_matrices = !floating || (a::rank >= 2 && b::rank >= 2);
    static_assert(together, DEVPLACE_DETAIL_PRODUCT_APART);
    static_assert(same,
                  "devplace: matmul: the operands have different element types; convert one with cast<T>(x) first.");
    static_assert(
        floating,
        "devplace: matmul: the elements must be float, double, bf16 or half; convert with cast<float>(x) first.");
    static_assert(of_matrices,
                  "devplace: matmul: both operands must be matrices, or arrays of matrices, of rank 2 or more; reshape "
                  "other arrays first.");
    if constexpr (together && same && floating && of_matrices) {
      constexpr bool precise = std::is_same_v<element_of_t<own_precision<P, value>>, value>,
                     inner = compatible<extents<columns_in<a>>, extents<rows_in<b>>>,
                     leading = broadcast_pair<leading_extents_t<a>, leading_extents_t<b>>::fits;
      static_assert(precise,
                    "devplace: matmul: the operands' elements are not those of the precision: tf32 takes float, "
                    "every other precision its own type; convert with cast<float>(x) first.");
      static_assert(inner,
                    "devplace: matmul: the columns of the first operand and the rows of the second differ; write "
                    "transposed(x) for an operand that is stored the other way round.");
      static_assert(leading,
                    "devplace: matmul: the operands are arrays of matrices whose static leading extents differ in an "
                    "axis in which neither is 1 (aligned at the last leading axis); slice or reshape one of them.");
      return precise && inner && leading;
    } else {
      return false;
    }
  } else {
    return false;
  }
}

}  // namespace devplace::detail

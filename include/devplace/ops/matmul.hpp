// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>

#include <devplace/ops/detail/distributed.hpp>
#include <devplace/ops/detail/operands.hpp>
#include <devplace/ops/detail/product_arguments.hpp>
#include <devplace/place/backend.hpp>
#include <devplace/tensor/precision.hpp>

namespace devplace::op {

/// `run(ordinal, gemm_arguments<T>)`: one matrix product.
struct matmul {};

}  // namespace devplace::op

namespace devplace {

/// Applied to each element of a product: `epilogue::none` or `epilogue::relu`.
using detail::epilogue;

/// c = then(alpha a b + beta c + bias), in precision P: the operands' element type, or `tf32` for float operands.
template <precision P>
struct matmul_options {
  /// The element type of the matrices.
  using value_type = element_of_t<P>;
  value_type alpha = 1;              ///< multiplies the product
  value_type beta = 0;               ///< if 0, c is not read
  const value_type* bias = nullptr;  ///< added to every row of c: one element per column of c, on its place; null: none
  epilogue then = epilogue::none;    ///< applied last
};

/// A matrix with rows and columns exchanged, without copying. Made by transposed().
template <class View>
struct transposed_view {
  /// Extents after transposition.
  using extents_type = devplace::extents<View::extents_type::static_extent(1), View::extents_type::static_extent(0)>;
  View matrix;  ///< the matrix as stored
  /// Extents after transposition.
  constexpr auto extents() const { return extents_type(matrix.extent(1), matrix.extent(0)); }
};

/// x with rows and columns exchanged, as an operand of matmul. Not a copy: x must outlive it.
template <tensor_like X>
constexpr auto transposed(X&& x) {
  static_assert(!detail::is_tensor<X>,
                "devplace: transposed: a temporary tensor would be gone before the product; give it a name first.");
  const auto matrix = detail::as_view(x);
  using matrix_view = std::remove_const_t<decltype(matrix)>;
  static_assert(matrix_view::rank == 2, "devplace: transposed: only matrices, which have rank 2, can be transposed.");
  return transposed_view<matrix_view>{matrix};
}

}  // namespace devplace

namespace devplace::detail {

template <class X>
inline constexpr bool is_transposed = false;
template <class View>
inline constexpr bool is_transposed<transposed_view<View>> = true;

}  // namespace devplace::detail

namespace devplace {

/// A tensor on one place, a view, or either of them transposed(). For tensors over several places:
/// distributed_matmul.hpp.
template <class X>
concept matrix_operand =
    (tensor_like<X> && !detail::distributed_tensor<X>) || detail::is_transposed<std::remove_cvref_t<X>>;

}  // namespace devplace

namespace devplace::detail {

template <class View>
constexpr auto stored_matrix(const transposed_view<View>& x) {
  return x.matrix;
}
template <tensor_like X>
constexpr auto stored_matrix(const X& x) {
  return as_view(x);
}

template <matrix_operand X>
using stored_matrix_t = std::remove_const_t<decltype(stored_matrix(std::declval<const std::remove_cvref_t<X>&>()))>;

/// The extents type of an operand as the product sees it.
template <matrix_operand X>
using matrix_extents_t = typename std::remove_cvref_t<X>::extents_type;

/// Whether both operands of a product can be on one device.
template <class A, class B>
concept multipliable_places = on_one_device<stored_matrix_t<A>, stored_matrix_t<B>>;

/// The arithmetic of products in a precision.
template <precision P>
inline constexpr product_math math_of = std::is_same_v<P, tf32> ? product_math::tf32 : product_math::strict;

/// The element type of a product's operands.
template <matrix_operand A>
using matrix_element_t = typename stored_matrix_t<A>::value_type;

template <class P, class T>
constexpr void check_matmul_precision() {
  static_assert(std::is_same_v<element_of_t<P>, T>,
                "devplace: matmul: the operands' elements are not those of the precision: tf32 is for float, and float "
                "and double each for their own; convert with cast<float>(x) first.");
}

template <class A, class B>
constexpr void check_matmul_operands() {
  using a_view = stored_matrix_t<A>;
  using b_view = stored_matrix_t<B>;
  static_assert(std::is_same_v<typename a_view::value_type, typename b_view::value_type>,
                "devplace: matmul: the operands have different element types; convert one with cast<T>(x) first.");
  static_assert(floating_element<typename a_view::value_type>,
                "devplace: matmul: the elements must be float or double; convert with cast<float>(x) first.");
  static_assert(a_view::rank == 2 && b_view::rank == 2,
                "devplace: matmul: both operands must be matrices, of rank 2; reshape other arrays first.");
  if constexpr (a_view::rank == 2 && b_view::rank == 2) {
    static_assert(
        compatible<extents<matrix_extents_t<A>::static_extent(1)>, extents<matrix_extents_t<B>::static_extent(0)>>,
        "devplace: matmul: the columns of the first operand and the rows of the second differ; write "
        "transposed(x) for an operand that is stored the other way round.");
  }
}

/// Rows and columns of a matrix, independent of the extents type.
struct matrix_size {
  std::size_t rows;
  std::size_t columns;
};
template <class E>
constexpr matrix_size matrix_size_of(const E& extents) {
  return {extents.extent(0), extents.extent(1)};
}
inline std::string to_string(const matrix_size& m) {
  return std::to_string(m.rows).append("x").append(std::to_string(m.columns));
}

inline void require_inner_extents(const matrix_size& a, const matrix_size& b) {
  if (a.columns != b.rows)
    throw shape_error("matmul: the first operand is " + to_string(a) + " and the second " + to_string(b) +
                      "; the columns of the first must be as many as the rows of the second. Write transposed(x) for "
                      "an operand that is stored the other way round.");
}
inline void require_product(const matrix_size& c, const matrix_size& a, const matrix_size& b) {
  require_inner_extents(a, b);
  if (c.rows != a.rows || c.columns != b.columns)
    throw shape_error("matmul: the result is " + to_string(c) + " and the product of " + to_string(a) + " by " +
                      to_string(b) + " is " + to_string(matrix_size{a.rows, b.columns}) + ".");
}

}  // namespace devplace::detail

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// c = then(alpha a b + beta c + bias), a matrix product with fused epilogue.
/// Shapes: c [m, n], a [m, k], b [k, n]; a and b may be transposed(x). float or double; with
/// `matmul_options<tf32>{...}` float operands are rounded to TF32 if the place supports it. c must not overlap a, b or
/// bias. k = 0 gives then(beta c + bias). All on one place, in the order of its current stream. On the CPU it does not
/// allocate after the first product of a thread, on a GPU not after the first product of each size. Different run-time
/// extents throw shape_error.
template <tensor_like C, matrix_operand A, matrix_operand B, precision P = detail::matrix_element_t<A>>
void matmul_into(C&& c, const A& a, const B& b, const matmul_options<P>& options = {}) {
  using c_view = detail::operand_view_t<C>;
  using value = detail::matrix_element_t<A>;
  detail::check_matmul_operands<A, B>();
  detail::check_matmul_precision<P, value>();
  static_assert(detail::on_one_device<C, detail::stored_matrix_t<A>, detail::stored_matrix_t<B>>,
                "devplace: matmul: the operands live on different places; move them to one with to<on<...>>(x) first.");
  static_assert(detail::writable<C>, "devplace: matmul: the result's elements are const.");
  static_assert(std::is_same_v<typename c_view::value_type, value>,
                "devplace: matmul: the result's element type is not that of the operands.");
  using product = extents<detail::matrix_extents_t<A>::static_extent(0), detail::matrix_extents_t<B>::static_extent(1)>;
  static_assert(detail::compatible<typename c_view::extents_type, product>,
                "devplace: matmul: the result must have the rows of the first operand and the columns of the second.");
  const c_view to = detail::as_view(c);
  const auto first = detail::stored_matrix(a);
  const auto second = detail::stored_matrix(b);
  detail::require_one_device("matmul", to, first, second);
  const detail::matrix_size of_a = detail::matrix_size_of(a.extents()), of_b = detail::matrix_size_of(b.extents());
  detail::require_product(detail::matrix_size_of(to.extents()), of_a, of_b);
  detail::gemm_arguments<value> arguments;
  arguments.m = of_a.rows;
  arguments.n = of_b.columns;
  arguments.k = of_a.columns;
  arguments.transpose_a = detail::is_transposed<A>;
  arguments.transpose_b = detail::is_transposed<B>;
  arguments.alpha = options.alpha;
  arguments.a = first.data();
  arguments.lda = first.extent(1);
  arguments.b = second.data();
  arguments.ldb = second.extent(1);
  arguments.beta = options.beta;
  arguments.c = to.data();
  arguments.ldc = of_b.columns;
  arguments.bias = options.bias;
  arguments.then = options.then;
  arguments.math = detail::math_of<P>;
  detail::dispatch<op::matmul, typename c_view::backend_type>(to.ordinal(), arguments);
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

template <class P, class A, class B>
auto make_product(const A& a, const B& b) {
  check_matmul_operands<A, B>();
  require_inner_extents(matrix_size_of(a.extents()), matrix_size_of(b.extents()));
  using a_view = stored_matrix_t<A>;
  using product = extents<matrix_extents_t<A>::static_extent(0), matrix_extents_t<B>::static_extent(1)>;
  result_beside_t<a_view, typename a_view::value_type, product> c(
      product(a.extents().extent(0), b.extents().extent(1)));
  matmul_into(c, a, b, matmul_options<P>{});
  return c;
}

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// The matrix product a b as a new tensor on the operands' place. Shapes: a [m, k], b [k, n], the result [m, n]; a and
/// b may be transposed(x). See matmul_into.
template <matrix_operand A, matrix_operand B>
  requires(detail::multipliable_places<A, B>)
auto matmul(const A& a, const B& b) {
  return detail::make_product<detail::matrix_element_t<A>>(a, b);
}

/// The same in a given precision: `matmul<tf32>(a, b)`. The default is that of the operands' element type.
template <precision P, matrix_operand A, matrix_operand B>
  requires(detail::multipliable_places<A, B>)
auto matmul(const A& a, const B& b) {
  detail::check_matmul_precision<P, detail::matrix_element_t<A>>();
  return detail::make_product<P>(a, b);
}

/// Operands on different places: move one to the other's placement first, with to<placement_of_A>(b).
template <matrix_operand A, matrix_operand B, class FIX = MOVE_ONE_OPERAND_FIRST_with_to_placement>
  requires(!detail::multipliable_places<A, B>)
void matmul(const A& a, const B& b) = delete;

}  // namespace devplace::inline DEVPLACE_CONFIGURATION

#include <devplace/backend/cpu/matmul.hpp>
#include DEVPLACE_CUDA_BACKEND(matmul)
#include <devplace/ops/distributed_matmul.hpp>

// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>

#include <devplace/base/refusal.hpp>
#include <devplace/ops/assign.hpp>
#include <devplace/ops/detail/distributed.hpp>
#include <devplace/ops/detail/evaluation_plan.hpp>
#include <devplace/ops/detail/matrix_operands.hpp>
#include <devplace/ops/detail/operands.hpp>
#include <devplace/ops/detail/product_arguments.hpp>
#include <devplace/place/backend.hpp>
#include <devplace/tensor/detail/packed.hpp>
#include <devplace/tensor/evaluated.hpp>
#include <devplace/tensor/precision.hpp>
#include <devplace/tensor/transposed.hpp>

namespace devplace::op {

/// `run(ordinal, gemm_arguments<T, Result>)`: one matrix product; `run(ordinal, gemm_batch<T, Result>)`: several
/// products of one size. The result has the operands' type; for bf16 and half, it may also be float.
struct matmul {};

}  // namespace devplace::op

namespace devplace {

/// Applied to each element of a product: `epilogue::none` or `epilogue::relu`.
using detail::epilogue;

/// c = epilogue(alpha a b + beta c + bias) in precision P. P is float or double, the element type of the operands;
/// `tf32` for float operands; or `mixed<T>` for operands of T, bf16 or half, whose products are summed in float.
template <precision P> struct matmul_options {
  /// The element type of the matrices.
  using value_type = element_of_t<P>;
  /// The type of the factors: float for bf16 and half.
  using factor_type = detail::computed_t<value_type>;
  factor_type alpha{1};              ///< multiplies the product
  factor_type beta{0};               ///< if 0, c is not read
  const value_type* bias = nullptr;  ///< added to every row of c: one element per column of c, on c's place; null: none
  devplace::epilogue epilogue = devplace::epilogue::none;  ///< applied last
};

/// A tensor on one place, or a view. For tensors over several places: distributed_matmul.hpp.
template <class X>
concept matrix_operand = tensor_like<X> && !detail::distributed_tensor<X>;

}  // namespace devplace

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

/// Computes the products of two arrays of matrices. `g` describes how `a` and `b` are read; the rows of `c` are
/// contiguous.
template <class C, class A, class B, class T, class Result>
void run_products(const C& c, const A& a, const B& b, gemm_arguments<T, Result> g) {
  using backend_type = typename C::backend_type;
  if constexpr (C::rank == 2) {
    dispatch<op::matmul, backend_type>(c.ordinal(), g);
  } else {
    shape axes = shape_of(c.extents());
    const shape whole = axes;
    operand_layout layouts[] = {layout_of(a, whole), layout_of(b, whole), layout_of(c, whole)};
    axes.rank -= 2;
    for (operand_layout& operand : layouts) operand.single = false;
    collapse(axes, layouts, 3);
    gemm_batch<T, Result> batch{g};
    if (axes.rank != 0) {
      --axes.rank;  // the last axis becomes the batch
      batch.count = axes.extents[axes.rank];
      batch.stride_a = magnitude(layouts[0].strides[axes.rank]);
      batch.stride_b = magnitude(layouts[1].strides[axes.rank]);
      batch.stride_c = magnitude(layouts[2].strides[axes.rank]);
    }
    // Matrices stored consecutively and multiplied by the same matrix are one matrix.
    if (batch.stride_b == 0 && !g.transpose_a && batch.stride_a == g.m * g.lda && batch.stride_c == g.m * g.ldc) {
      batch.first.m *= batch.count;
      batch.count = 1;
    }
    for (std::size_t matrix = 0, others = size_of(axes); matrix != others; ++matrix) {
      gemm_batch<T, Result> products = batch;
      for (std::size_t axis = axes.rank, rest = matrix; axis-- != 0; rest /= axes.extents[axis]) {
        const auto index = static_cast<std::ptrdiff_t>(rest % axes.extents[axis]);
        products.first.a += index * layouts[0].strides[axis];
        products.first.b += index * layouts[1].strides[axis];
        products.first.c += index * layouts[2].strides[axis];
      }
      if (products.count == 1)
        dispatch<op::matmul, backend_type>(c.ordinal(), products.first);
      else if (products.count != 0)
        dispatch<op::matmul, backend_type>(c.ordinal(), products);
    }
  }
}

/// Multiplies views. Operands, or a result, with strides that BLAS does not support go through a row-major copy.
template <class C, class A, class B, class T, class Result>
void multiply_views(const C& c, const A& a, const B& b, gemm_arguments<T, Result> g) {
  const auto as_read = [&](const auto& x, bool& transpose, const T*& data, std::size_t& ld, const auto& continuation) {
    using view_type = std::remove_cvref_t<decltype(x)>;
    const blas_matrix read = blas_matrix_of(x);
    transpose = read.transposed, data = x.data(), ld = read.ld;
    if constexpr (view_type::is_strided) {
      if (read.ld == 0 && x.size() != 0) {
        const auto copy = packed(x);
        transpose = false, data = copy.view.data(), ld = x.extent(view_type::rank - 1);
        return continuation(copy.view);
      }
    }
    continuation(x);
  };
  if constexpr (!C::is_row_major) {
    const blas_matrix written = blas_matrix_of(c);
    if (written.transposed || written.ld == 0) {
      const auto rows = packed_beside(c);
      if (g.beta != 0) assign(rows.view, c);
      multiply_views(rows.view, a, b, g);
      assign(c, rows.view);
      return;
    }
  }
  g.c = c.data();
  g.ldc = blas_matrix_of(c).ld;
  as_read(a, g.transpose_a, g.a, g.lda, [&](const auto& first) {
    as_read(b, g.transpose_b, g.b, g.ldb, [&](const auto& second) { run_products(c, first, second, g); });
  });
}

/// Erases the place's ordinal and static extents, so that products are compiled once for each rank and layout.
/// `Element` is const for operands, so that const and other ones share the compiled products.
template <class Element, class X> auto product_view(const X& x) {
  const auto erased = as_any_view(x).erased();
  using given = std::remove_const_t<decltype(erased)>;
  return view<Element, dextents<given::rank>, typename given::placement_type, typename given::layout_type>(erased);
}

/// Runs matmul_into after the checks of static extents.
template <class C, class A, class B, class P>
void multiply(const C& c, const A& a, const B& b, const matmul_options<P>& options) {
  require_one_device("matmul", c, a, b);
  const auto extents = product_extents(a.extents(), b.extents());
  if (!(c.extents() == extents))
    throw_product_extents(sizes_of(c.extents()), sizes_of(a.extents()), sizes_of(b.extents()), sizes_of(extents));
  const view<const typename A::value_type, devplace::extents<dyn>, typename C::placement_type> bias(
      options.bias, devplace::extents<dyn>{c.extent(C::rank - 1)}, c.device());
  if (overlap(c, a) || overlap(c, b) || (options.bias != nullptr && overlap(c, bias))) throw_product_overlaps();
  gemm_arguments<typename A::value_type, typename C::value_type> arguments;
  arguments.m = c.extent(C::rank - 2);
  arguments.n = c.extent(C::rank - 1);
  arguments.k = a.extent(A::rank - 1);
  arguments.alpha = options.alpha;
  arguments.beta = options.beta;
  arguments.bias = options.bias;
  arguments.epilogue = options.epilogue;
  arguments.math = math_of<P>;
  multiply_views(c, a, b, arguments);
}

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// c = epilogue(alpha a b + beta c + bias), a matrix product. Shapes: c [m, n], a [m, k], b [k, n]; or
/// arrays of matrices, c [..., m, n], a [..., m, k], b [..., k, n], with leading extents broadcast as in numpy.matmul.
/// k = 0 gives epilogue(beta c + bias). All three may be views with strides, such as transposed(x). Strides that BLAS
/// supports cost nothing; other views go through a row-major temporary. Elements are float or double; with
/// `matmul_options<tf32>{...}` float operands are rounded to TF32 if the place supports TF32. With bf16 or half, sums,
/// alpha and beta are float; c is rounded once to the operands' type, or is float. c must not overlap a, b or bias
/// (argument_error). All operands are on one place; the product runs in the order of its current stream. Except for
/// temporaries, allocates only at a thread's first product on the CPU, or at the first product of each size on a GPU.
/// Different run-time extents throw shape_error.
template <class C, detail::accepted_argument A, detail::accepted_argument B,
          precision P = typename detail::operand_precision<A>::type>
void matmul_into(C&& c, const A& a, const B& b, const matmul_options<P>& options = {}) {
  constexpr bool stored = tensor_like<C>;
  static_assert(stored, "devplace: matmul: the result, which is the first argument, must be a tensor or view.");
  if constexpr (stored && detail::check_product<P, A, B>()) {
    using result = detail::operand_element_t<C>;
    using value = detail::operand_element_t<A>;
    using product = detail::product_extents_t<detail::operand_extents_t<A>, detail::operand_extents_t<B>>;
    constexpr bool together = detail::on_one_device<C, A>, written = detail::writable<C>,
                   same = std::is_same_v<result, value> ||
                          (half_precision_element<value> && std::is_same_v<result, float>),
                   fits = detail::compatible<detail::operand_extents_t<C>, product>;
    static_assert(together, DEVPLACE_DETAIL_PRODUCT_APART);
    static_assert(written, "devplace: matmul: the result's elements are const.");
    static_assert(same,
                  "devplace: matmul: the result's element type must be that of the operands or, for bf16 and half, "
                  "float.");
    static_assert(fits,
                  "devplace: matmul: the result, which is the first argument, must have the rows of the first operand "
                  "and the columns of the second.");
    if constexpr (together && written && same && fits)
      detail::multiply(detail::product_view<result>(detail::as_any_view(c)), detail::product_view<const value>(a),
                       detail::product_view<const value>(b), options);
  }
}

/// The matrix product a b as a new tensor on the operands' place. Shapes: a [..., m, k], b [..., k, n], the result
/// [..., m, n]; a and b may be views with strides, such as transposed(x). Uses the precision of the operands' element
/// type, or a given precision: `matmul<tf32>(a, b)`. Expressions are evaluated first. See matmul_into.
template <detail::precision_or_own P = void, class Right, detail::product_arguments<Right> Left>
auto matmul(Left&& a, Right&& b) {
  using A = std::remove_cvref_t<Left>;
  using B = std::remove_cvref_t<Right>;
  if constexpr (detail::evaluable<Left> && detail::evaluable<Right> && !(tensor_like<A> && tensor_like<B>)) {
    detail::check_unnamed<Left, Right>();
    return matmul<P>(evaluated(a), evaluated(b));
  } else if constexpr (detail::check_product<P, A, B>()) {
    using value = detail::operand_element_t<A>;
    const auto extents = detail::product_extents(a.extents(), b.extents());
    detail::result_beside_t<A, value, std::remove_const_t<decltype(extents)>> c(extents);
    matmul_into(c, a, b, matmul_options<detail::own_precision<P, value>>{});
    return c;
  } else {
    return detail::refusal{};
  }
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION

#include <devplace/backend/cpu/matmul.hpp>
#include DEVPLACE_BACKENDS(matmul)
#include <devplace/ops/distributed_matmul.hpp>

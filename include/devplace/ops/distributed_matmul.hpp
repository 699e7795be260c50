// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>

#include <devplace/ops/detail/distributed.hpp>
#include <devplace/ops/matmul.hpp>

namespace devplace {

/// A distributed matrix with rows and columns exchanged, without copying. Made by transposed().
template <class Tensor> struct distributed_transposed {
  /// Extents of the whole after transposition.
  using extents_type =
      devplace::extents<Tensor::extents_type::static_extent(1), Tensor::extents_type::static_extent(0)>;
  const Tensor* matrix;  ///< the matrix as stored
  /// Extents of the whole after transposition.
  auto extents() const { return extents_type(matrix->extent(1), matrix->extent(0)); }
};

/// Exchanges rows and columns of x on every place, as an operand of matmul. Not a copy: x must outlive the result.
template <detail::distributed_tensor X>
  requires detail::transposable<X>
auto transposed(X&& x) {
  static_assert(std::is_lvalue_reference_v<X>,
                "devplace: transposed: a temporary tensor would be gone before the product; give it a name first.");
  static_assert(std::remove_cvref_t<X>::rank == 2,
                "devplace: transposed: only matrices, which have rank 2, can be transposed.");
  return distributed_transposed<std::remove_cvref_t<X>>{&x};
}

}  // namespace devplace

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

template <class X> struct distributed_matrix_traits {
  using stored = X;
  using placement = typename X::placement_type;
  static const X& matrix(const X& x) { return x; }
  static auto part(const X& x, std::size_t k) { return x.only_on(k); }
};
template <class Tensor> struct distributed_matrix_traits<distributed_transposed<Tensor>> {
  using stored = Tensor;
  using placement = typename transposed_placement<typename Tensor::placement_type>::type;
  static const Tensor& matrix(const distributed_transposed<Tensor>& x) { return *x.matrix; }
  static auto part(const distributed_transposed<Tensor>& x, std::size_t k) {
    return devplace::transposed(x.matrix->only_on(k));
  }
};

template <class X> inline constexpr bool is_distributed_transposed = false;
template <class Tensor> inline constexpr bool is_distributed_transposed<distributed_transposed<Tensor>> = true;

/// A distributed tensor, possibly transposed().
template <class X>
concept distributed_matrix = distributed_tensor<X> || is_distributed_transposed<std::remove_cvref_t<X>>;

/// Returns the operand that determines a product's split: the split operand, if one is split.
template <class A, class B> const auto& split_operand([[maybe_unused]] const A& a, [[maybe_unused]] const B& b) {
  if constexpr (kind_of<typename B::placement_type>::is_split)
    return b;
  else
    return a;
}

template <class A, class B> struct distributed_product : result_unless<mismatch::places, void> {};
template <distributed_matrix A, distributed_matrix B>
struct distributed_product<A, B> : matmul_result<typename distributed_matrix_traits<A>::placement,
                                                 typename distributed_matrix_traits<B>::placement> {};

template <class P, class A, class B> auto make_distributed_product(const A& a, const B& b) {
  using rule = distributed_product<A, B>;
  constexpr mismatch why = rule::why;
  constexpr bool one_placement = why != mismatch::places, one_axis = why != mismatch::split_axes,
                 linear = why != mismatch::nonlinear, one_factor = why != mismatch::partial_product,
                 one_kind = why != mismatch::partial_and_split, contracted = why != mismatch::contraction;
  static_assert(one_placement, DEVPLACE_DETAIL_OTHER_PLACES);
  static_assert(one_axis, DEVPLACE_DETAIL_OTHER_AXES);
  static_assert(linear, DEVPLACE_DETAIL_NONLINEAR);
  static_assert(one_factor, DEVPLACE_DETAIL_PRODUCT_OF_SUMMANDS);
  static_assert(one_kind, DEVPLACE_DETAIL_SUMMANDS_AND_PARTS);
  static_assert(
      contracted,
      "devplace: matmul: the axis that is summed over is split in one operand and not in the other; "
      "gather the split operand first with all_gather(x). If both are split along rows, matmul(transposed(a), b) "
      "is partial.");
  if constexpr (why != mismatch::none) {
    return refusal{};
  } else {
    using of_a = distributed_matrix_traits<A>;
    using of_b = distributed_matrix_traits<B>;
    using value = typename of_a::stored::value_type;
    constexpr bool of_matrices = of_a::stored::rank == 2 && of_b::stored::rank == 2,
                   inner = !of_matrices || compatible<extents<of_matrices ? A::extents_type::static_extent(1) : dyn>,
                                                      extents<of_matrices ? B::extents_type::static_extent(0) : dyn>>;
    static_assert(of_matrices,
                  "devplace: matmul: both operands must be matrices, of rank 2, where one lies over several places; "
                  "reshape other arrays first.");
    static_assert(inner,
                  "devplace: matmul: the columns of the first operand and the rows of the second differ; write "
                  "transposed(x) for an operand that is stored the other way round.");
    if constexpr (of_matrices && inner) {
      const auto whole = product_extents(a.extents(), b.extents());
      if constexpr (kind_of<typename of_a::placement>::is_split && kind_of<typename of_b::placement>::is_split)
        require_same_split("matmul", of_a::matrix(a), of_b::matrix(b));
      auto c = make_like<value, typename rule::type>(whole, split_operand(of_a::matrix(a), of_b::matrix(b)));
      using own = own_precision<P, value>;
      for (std::size_t k = 0; k != c.places; ++k)
        matmul_into(c.only_on(k), of_a::part(a, k), of_b::part(b, k), matmul_options<own>{});
      return c;
    } else {
      return refusal{};
    }
  }
}

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// The matrix product a b of distributed tensors, one product per place without communication. Placements:
/// - a and b replicated: the result is replicated;
/// - a split along rows, b replicated: the result is split along rows like a;
/// - transposed(a) b, both split along rows: the result is partial, with a summand on each place;
/// - one of a and b partial, the other replicated: the result is partial.
/// Shapes of the wholes: a [m, k], b [k, n], the result [m, n]; a and b may be transposed(x). Asynchronous, in the
/// order of each place's current stream. Uses the precision of the element type, or a given precision: `matmul<tf32>(a,
/// b)`. Different run-time extents, and different splits, throw shape_error.
template <detail::precision_or_own P = void, class A, class B>
  requires((detail::distributed_matrix<A> && (detail::distributed_matrix<B> || matrix_operand<B>)) ||
           (matrix_operand<A> && detail::distributed_matrix<B>))
auto matmul(const A& a, const B& b) {
  return detail::make_distributed_product<P>(a, b);
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION

// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <devplace/base/refusal.hpp>
#include <devplace/ops/assign.hpp>
#include <devplace/ops/creation.hpp>
#include <devplace/ops/detail/distributed.hpp>
#include <devplace/ops/detail/operands.hpp>
#include <devplace/ops/elementwise.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/detail/packed.hpp>
#include <devplace/tensor/evaluated.hpp>

// Triangles, diagonals, unit matrices and outer products. Operands are tensors, views or expressions on one place.
// Results are new tensors on that place, enqueued on the place's current stream.

namespace devplace::detail {

template <class T> struct triangle_of_matrices {
  T* result;
  const T* x;
  std::size_t rows, columns;
  std::int64_t diagonal;
  bool lower;

  DEVPLACE_HD void operator()(std::size_t i) const {
    const auto row = static_cast<std::int64_t>(i / columns % rows), column = static_cast<std::int64_t>(i % columns);
    const bool kept = lower ? column - row <= diagonal : column - row >= diagonal;
    result[i] = kept ? x[i] : T{0};
  }
};

template <class T, std::size_t M, std::size_t N, class Where, class Layout>
auto diagonal_of(const view<T, extents<M, N>, Where, Layout>& x) {
  using diagonal = extents<M == dyn || N == dyn ? dyn : std::min(M, N)>;
  return view<T, diagonal, Where, strided>(raw_data(x), diagonal{std::min(x.extent(0), x.extent(1))},
                                           std::array{x.stride(0) + x.stride(1)}, x.device());
}

}  // namespace devplace::detail

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

template <class Operand> auto triangle(Operand&& operand, std::int64_t diagonal, bool lower) {
  using X = evaluated_value_t<Operand>;
  constexpr bool taken = check_unnamed<Operand>() && takes_on_one_place<X>(),
                 has_matrices = !taken || operand_rank<X> >= 2;
  static_assert(has_matrices, "devplace: tril, triu: the operand must have two axes or more, rows and columns last.");
  if constexpr (taken && has_matrices) {
    constexpr std::size_t rank = operand_extents_t<X>::rank;
    const auto& x = evaluated(operand);
    result_like_t<X> result(x.extents());
    const auto from = packed(as_any_view(x));
    for_each_index<operand_backend_t<X>>(
        from.view.ordinal(), result.size(), elementwise_grain,
        triangle_of_matrices<operand_element_t<X>>{raw_data(result), raw_data(from.view), from.view.extent(rank - 2),
                                                   from.view.extent(rank - 1), diagonal, lower});
    return result;
  } else {
    return refusal{};
  }
}

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// The lower and the upper triangle of each matrix (the last two axes), with zeros elsewhere, as numpy.tril and
/// numpy.triu. `diagonal` moves the boundary: 1 is one above the main diagonal, -1 one below.
///@{
template <detail::accepted_argument X> auto tril(X&& x, std::int64_t diagonal = 0) {
  return detail::triangle(std::forward<X>(x), diagonal, true);
}
template <detail::accepted_argument X> auto triu(X&& x, std::int64_t diagonal = 0) {
  return detail::triangle(std::forward<X>(x), diagonal, false);
}
///@}

/// The diagonal matrix of a vector, or the diagonal of a matrix, as numpy.diag.
template <detail::accepted_argument Operand> auto diag(Operand&& operand) {
  using X = detail::evaluated_value_t<Operand>;
  constexpr bool taken = detail::check_unnamed<Operand>() && detail::takes_on_one_place<X>(),
                 fits = !taken || detail::operand_rank<X> == 1 || detail::operand_rank<X> == 2;
  static_assert(fits, "devplace: diag: the operand must be a vector or a matrix.");
  if constexpr (taken && fits) {
    using value = detail::operand_element_t<X>;
    const auto& x = evaluated(operand);
    const auto from = detail::as_any_view(x);
    if constexpr (detail::operand_extents_t<X>::rank == 1) {
      constexpr std::size_t n = detail::operand_extents_t<X>::static_extent(0);
      detail::result_beside_t<X, value, extents<n, n>> result(extents<n, n>(from.extent(0), from.extent(0)));
      fill(result, value{0});
      copy(detail::diagonal_of(result.view()), from);
      return result;
    } else {
      const auto diagonal = detail::diagonal_of(from);
      using result_extents = typename decltype(diagonal)::extents_type;
      detail::result_beside_t<X, value, result_extents> result(diagonal.extents());
      copy(result, diagonal);
      return result;
    }
  } else {
    return detail::refusal{};
  }
}

/// The n x n matrix with ones on its diagonal and zeros elsewhere, as numpy.eye: `eye<float, cpu>(3)`.
template <class T, class Where = void> auto eye(std::size_t n) {
  constexpr bool of_elements = element<T>, on_one_place = single_place<Where>;
  static_assert(
      of_elements && on_one_place,
      "devplace: eye: the template arguments must be an element type and one place, as in eye<float, cpu>(3).");
  if constexpr (of_elements && on_one_place) {
    auto result = zeros<T, Where>(n, n);
    fill(detail::diagonal_of(result.view()), T(1));
    return result;
  } else {
    return detail::refusal{};
  }
}

/// The products a[i] * b[j] of two vectors, as numpy.outer.
template <detail::accepted_argument Left, detail::accepted_argument Right> auto outer(Left&& left, Right&& right) {
  using A = detail::evaluated_value_t<Left>;
  using B = detail::evaluated_value_t<Right>;
  constexpr bool taken = detail::check_unnamed<Left, Right>() && detail::takes_on_one_place<A, B>(),
                 are_vectors = !taken || (detail::operand_rank<A> == 1 && detail::operand_rank<B> == 1);
  static_assert(are_vectors, "devplace: outer: the operands must be vectors; reshape them to one axis first.");
  if constexpr (taken && are_vectors) {
    constexpr std::size_t m = detail::operand_extents_t<A>::static_extent(0),
                          n = detail::operand_extents_t<B>::static_extent(0);
    const auto& a = evaluated(left);
    const auto& b = evaluated(right);
    const auto rows = detail::as_any_view(a);
    const auto columns = detail::as_any_view(b);
    detail::require_one_device("outer", rows, columns);
    return detail::result_beside_t<A, detail::operand_element_t<A>, extents<m, n>>(
        rows.reshape(extents<m, 1>(rows.extent(0), std::size_t{1})) *
        columns.reshape(extents<1, n>(std::size_t{1}, columns.extent(0))));
  } else {
    return detail::refusal{};
  }
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION

// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <devplace/base/refusal.hpp>
#include <devplace/ops/assign.hpp>
#include <devplace/ops/detail/distributed.hpp>
#include <devplace/ops/detail/operands.hpp>
#include <devplace/ops/elementwise.hpp>
#include <devplace/ops/for_each.hpp>
#include <devplace/tensor/detail/packed.hpp>
#include <devplace/tensor/tensor.hpp>

// Triangles, diagonals and outer products. Operands are tensors or views on one place, of any layout. Results are new
// tensors on that place; all is enqueued on the place's current stream.

namespace devplace::detail {

/// Index functor: keeps elements with column - row at most `diagonal` (lower) or at least (upper), and sets others to
/// 0.
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

/// Index functor: makes a diagonal matrix of `size` elements, or the diagonal of a matrix with `columns` columns.
template <class T> struct diagonal_matrix {
  T* result;
  const T* x;
  std::size_t size;
  DEVPLACE_HD void operator()(std::size_t i) const { result[i] = i / size == i % size ? x[i % size] : T{0}; }
};
template <class T> struct diagonal_of_matrix {
  T* result;
  const T* x;
  std::size_t columns;
  DEVPLACE_HD void operator()(std::size_t i) const { result[i] = x[i * columns + i]; }
};

/// The number of elements of a matrix's diagonal.
template <class Extents>
inline constexpr std::size_t static_diagonal = Extents::static_extent(0) == dyn || Extents::static_extent(1) == dyn
                                                   ? dyn
                                                   : std::min(Extents::static_extent(0), Extents::static_extent(1));

}  // namespace devplace::detail

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

template <class X> auto triangle(const X& x, std::int64_t diagonal, bool lower) {
  if constexpr (takes_on_one_place<X>()) {
    using value = operand_element_t<X>;
    constexpr std::size_t rank = operand_extents_t<X>::rank;
    constexpr bool has_matrices = rank >= 2;
    static_assert(has_matrices, "devplace: tril, triu: the operand must have two axes or more, rows and columns last.");
    if constexpr (has_matrices) {
      result_like_t<X> result(x.extents());
      const auto from = packed(as_any_view(x));
      for_each_index<operand_backend_t<X>>(
          from.view.ordinal(), result.size(), elementwise_grain,
          triangle_of_matrices<value>{raw_data(result), raw_data(from.view), from.view.extent(rank - 2),
                                      from.view.extent(rank - 1), diagonal, lower});
      return result;
    } else {
      return refusal{};
    }
  } else {
    return refusal{};
  }
}

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// The lower and the upper triangle of each matrix (the last two axes), with zeros elsewhere, as numpy.tril and
/// numpy.triu. `diagonal` moves the boundary: 1 is one above the main diagonal, -1 one below.
///@{
template <class X>
  requires detail::accepted_argument<const X&>
auto tril(const X& x, std::int64_t diagonal = 0) {
  return detail::triangle(x, diagonal, true);
}
template <class X>
  requires detail::accepted_argument<const X&>
auto triu(const X& x, std::int64_t diagonal = 0) {
  return detail::triangle(x, diagonal, false);
}
///@}

/// The diagonal matrix of a vector, or the diagonal of a matrix, as numpy.diag.
template <class X>
  requires detail::accepted_argument<const X&>
auto diag(const X& x) {
  if constexpr (detail::takes_on_one_place<X>()) {
    using value = detail::operand_element_t<X>;
    using from_extents = detail::operand_extents_t<X>;
    using backend_type = detail::operand_backend_t<X>;
    constexpr bool fits = from_extents::rank == 1 || from_extents::rank == 2;
    static_assert(fits, "devplace: diag: the operand must be a vector or a matrix.");
    if constexpr (fits) {
      const auto from = detail::packed(detail::as_any_view(x));
      const std::size_t rows = from.view.extent(0);
      if constexpr (from_extents::rank == 1) {
        constexpr std::size_t n = from_extents::static_extent(0);
        detail::result_beside_t<X, value, extents<n, n>> result(extents<n, n>(rows, rows));
        detail::for_each_index<backend_type>(
            from.view.ordinal(), rows * rows, detail::elementwise_grain,
            detail::diagonal_matrix<value>{detail::raw_data(result), detail::raw_data(from.view), rows});
        return result;
      } else {
        using result_extents = extents<detail::static_diagonal<from_extents>>;
        const std::size_t columns = from.view.extent(1), size = std::min(rows, columns);
        detail::result_beside_t<X, value, result_extents> result(result_extents{size});
        detail::for_each_index<backend_type>(
            from.view.ordinal(), size, detail::elementwise_grain,
            detail::diagonal_of_matrix<value>{detail::raw_data(result), detail::raw_data(from.view), columns});
        return result;
      }
    } else {
      return detail::refusal{};
    }
  } else {
    return detail::refusal{};
  }
}

/// The products a[i] * b[j] of two vectors, as numpy.outer.
template <class A, class B>
  requires(detail::accepted_argument<const A&> && detail::accepted_argument<const B&>)
auto outer(const A& a, const B& b) {
  if constexpr (detail::takes_on_one_place<A, B>()) {
    using rows = detail::operand_extents_t<A>;
    using columns = detail::operand_extents_t<B>;
    constexpr bool are_vectors = rows::rank == 1 && columns::rank == 1;
    static_assert(are_vectors, "devplace: outer: the operands must be vectors; reshape them to one axis first.");
    if constexpr (are_vectors) {
      constexpr std::size_t m = rows::static_extent(0), n = columns::static_extent(0);
      const auto left = detail::as_any_view(a);
      const auto right = detail::as_any_view(b);
      detail::require_one_device("outer", left, right);
      detail::result_beside_t<A, detail::operand_element_t<A>, extents<m, n>> result(
          extents<m, n>(left.extent(0), right.extent(0)));
      result = left.reshape(extents<m, 1>(left.extent(0), std::size_t{1})) *
               right.reshape(extents<1, n>(std::size_t{1}, right.extent(0)));
      return result;
    } else {
      return detail::refusal{};
    }
  } else {
    return detail::refusal{};
  }
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION

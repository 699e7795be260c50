// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>

#include <devplace/base/error.hpp>
#include <devplace/place/algebra.hpp>
#include <devplace/tensor/detail/as_view.hpp>
#include <devplace/tensor/detail/distributed_access.hpp>

// Common parts of operations on tensors over several places: loops over the places, which call the operation on one
// place. `x.local(k)` is place k's tensor, as a view without an ordinal in its type.

// Messages for operands that the algebra of placements rejects. Public functions often assert in their own bodies, so
// that a compiler's message shows the user's line early.

#define DEVPLACE_DETAIL_OTHER_PLACES                                                    \
  "devplace: the operands lie on different places; bring them to one placement first: " \
  "to<on<P>>(x), broadcast<replicated<...>>(x), scatter<sharded<axis<0>, ...>>(x) or gather<on<P>>(x)."
#define DEVPLACE_DETAIL_OTHER_AXES \
  "devplace: the operands are split along different axes; make one of them whole first, all_gather(x)."
#define DEVPLACE_DETAIL_NONLINEAR                                                                              \
  "devplace: an operand is partial, and this operation on its summands does not give summands of the result; " \
  "make it whole first, all_reduce(x)."
#define DEVPLACE_DETAIL_PRODUCT_OF_SUMMANDS                                                                   \
  "devplace: both operands are partial, and the products of their summands are not summands of the product; " \
  "make one of them whole first, all_reduce(x)."
#define DEVPLACE_DETAIL_COUNTED_REPEATEDLY                                                                         \
  "devplace: a number or whole operand that is added to a partial one would count once for every place; make the " \
  "partial one whole first, all_reduce(x)."
#define DEVPLACE_DETAIL_SUMMANDS_AND_PARTS                                                                   \
  "devplace: one operand is partial and one is split, so that the parts of one meet summands of the other; " \
  "reduce the partial one first, with reduce_scatter(x) or all_reduce(x)."
#define DEVPLACE_DETAIL_OTHER_REDUCTIONS \
  "devplace: the operands are partial in different reductions; make one of them whole first, all_reduce(x)."

namespace devplace::detail {

/// Asserts that a rule allows an operation. The compiler shows the rule, and with it the placements, as template
/// arguments.
template <class Rule> struct common_result {
  static constexpr mismatch why = Rule::why;
  static_assert(why != mismatch::places, DEVPLACE_DETAIL_OTHER_PLACES);
  static_assert(why != mismatch::split_axes, DEVPLACE_DETAIL_OTHER_AXES);
  static_assert(why != mismatch::nonlinear, DEVPLACE_DETAIL_NONLINEAR);
  static_assert(why != mismatch::partial_and_split, DEVPLACE_DETAIL_SUMMANDS_AND_PARTS);
  static_assert(why != mismatch::reductions, DEVPLACE_DETAIL_OTHER_REDUCTIONS);
  static_assert(why != mismatch::parts_of_rows,
                "devplace: softmax and log_softmax work along the last axis, which is the split one; "
                "all_gather(x) first.");
  static constexpr bool value = why == mismatch::none;
};

template <class X> inline constexpr bool is_distributed_tensor = false;
template <class T, class E, class W> inline constexpr bool is_distributed_tensor<tensor<T, E, W>> = !single_place<W>;

template <class X>
concept distributed_tensor = tensor_like<X> && is_distributed_tensor<std::remove_cvref_t<X>>;

template <class... X>
concept none_distributed = (!distributed_tensor<X> && ...);

/// The number of axes of a tensor or view; 0 for other types.
template <class X> inline constexpr std::size_t operand_rank = 0;
template <tensor_like X> inline constexpr std::size_t operand_rank<X> = std::remove_cvref_t<X>::rank;

/// Whether an operation on one place takes these arguments; if not, an assertion fails.
template <class... X> constexpr bool takes_on_one_place() {
  constexpr bool operands = (tensor_like<X> && ...) && none_distributed<X...>;
  static_assert(
      operands,
      "devplace: this operation takes tensors and views on one place; give evaluated(a + b) of an expression, "
      "and x.local(k) or gather<cpu>(x) of a tensor over several places.");
  return operands;
}

inline namespace DEVPLACE_CONFIGURATION {

/// Makes an uninitialised tensor on Where for a result. A split tensor adopts the division of the operand `source`, and
/// the rule of `source` for dividing later extents.
template <class T, class Where, class Extents, class Source>
auto make_like(const Extents& extents, [[maybe_unused]] const Source& source) {
  using result = tensor<T, Extents, Where>;
  if constexpr (kind_of<Where>::is_split)
    return distributed_access::split_like<result>(extents, source);
  else
    return result(extents);
}

}  // namespace DEVPLACE_CONFIGURATION

// Messages are built outside of templates, to keep the code instantiated per placement small.
[[noreturn]] inline void throw_other_split(const char* operation, std::size_t place, std::size_t a, std::size_t b) {
  throw shape_error({operation, ": the operands are split differently: the part of place ", place, " has extent ", a,
                     " in one operand and ", b, " in the other; split both in the same way."});
}

/// Throws unless the parts of two tensors have equal sizes along the split axes of these tensors.
template <class A, class B> void require_same_split(const char* operation, const A& a, const B& b) {
  constexpr std::size_t axis_of_a = kind_of<typename A::placement_type>::axis;
  constexpr std::size_t axis_of_b = kind_of<typename B::placement_type>::axis;
  for (std::size_t k = 0; k != A::places; ++k) {
    const std::size_t of_a = distributed_access::extents(a, k).extent(axis_of_a);
    const std::size_t of_b = distributed_access::extents(b, k).extent(axis_of_b);
    if (of_a != of_b) throw_other_split(operation, k, of_a, of_b);
  }
}

}  // namespace devplace::detail

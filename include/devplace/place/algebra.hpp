// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>

#include <devplace/place/placement.hpp>

// The algebra of placements: computes the placement of an operation's result from its operands' placements. Operations
// on distributed tensors (ops/) use the algebra; docs/algebra.md tabulates it. The value of a partial operand is the
// reduction of one summand per place (place/kind.hpp).
namespace devplace::detail {

/// How an elementwise operation acts on summands. `pointwise` stands for all functions without an enumerator of their
/// own.
enum class arithmetic : unsigned char { pointwise, additive, product, quotient, negation, larger, smaller };

/// Kinds of reductions along axes. `position` stands for argmax and argmin. `sum_of_function`, `max_of_function` and
/// `min_of_function` stand for sums and extrema of a nonlinear function of the elements. `function` stands for
/// reductions whose results for parts cannot be combined.
enum class reducing : unsigned char {
  sum,
  mean,
  max,
  min,
  position,
  sum_of_function,
  max_of_function,
  min_of_function,
  function
};

/// The reason why an operation rejects its operands.
enum class mismatch : unsigned char {
  none,
  places,              ///< operands on different places
  split_axes,          ///< operands split along different axes
  nonlinear,           ///< a nonlinear function of the summands gives no summands of the result
  partial_product,     ///< products of summands are not summands of the product
  counted_repeatedly,  ///< a value added to every summand would be counted once per place
  partial_and_split,   ///< one operand is partial, another one is split
  reductions,          ///< partial operands with different reductions
  contraction,         ///< matmul: the contracted axis is split in one operand only
  mean_of_parts,       ///< parts may differ in size, so their means have different weights
  position_in_parts,   ///< a position in a part is not a position in the whole
  parts_of_rows,       ///< the axis of a row function, or of a reduction whose parts do not combine, is split
};

/// The placement of a result, or void and the reason why there is none.
template <mismatch Why, class Where> struct result_unless {
  using type = std::conditional_t<Why == mismatch::none, Where, void>;
  static constexpr mismatch why = Why;
};

/// Whether two placements have the same places. One place and a mesh of this one place differ.
template <class A, class B> inline constexpr bool same_places = false;
template <placement A, placement B>
inline constexpr bool same_places<A, B> =
    single_place<A> == single_place<B> &&
    std::is_same_v<typename placement_traits<A>::mesh, typename placement_traits<B>::mesh>;

/// Why `op` rejects an operand of kind `X` if the other operand is a number or a whole value. `flipped`: the operand of
/// kind `X` is the right one.
template <class X> constexpr mismatch why_not_with_whole(arithmetic op, X, bool flipped) {
  if (!X::is_summands) return mismatch::none;
  if (X::is_linear && (op == arithmetic::product || (op == arithmetic::quotient && !flipped))) return mismatch::none;
  return X::is_linear && op == arithmetic::additive ? mismatch::counted_repeatedly : mismatch::nonlinear;
}

template <class A, class B> constexpr mismatch why_not_elementwise(arithmetic op, A a, B b) {
  if (B::is_whole) return why_not_with_whole(op, a, false);
  if (A::is_whole) return why_not_with_whole(op, b, true);
  if (A::is_summands != B::is_summands) return mismatch::partial_and_split;
  if (A::is_split) return A::axis == B::axis ? mismatch::none : mismatch::split_axes;
  if (A::op != B::op) return mismatch::reductions;
  if ((A::is_linear && op == arithmetic::additive) || (A::op == reduction::max && op == arithmetic::larger) ||
      (A::op == reduction::min && op == arithmetic::smaller))
    return mismatch::none;
  return op == arithmetic::product ? mismatch::partial_product : mismatch::nonlinear;
}

/// The placement of the result of two or more operands, from the left; void stands for a number. Stops at the first
/// operand that is rejected, so that a partial operand is rejected in any position.
template <arithmetic Op, class A, class B, class... Rest> constexpr auto elementwise_of() {
  using a = kind_of<A>;
  using b = kind_of<B>;
  using where = std::conditional_t<std::is_void_v<A> || (a::is_whole && !b::is_whole), B, A>;
  constexpr bool apart = !std::is_void_v<A> && !std::is_void_v<B> && !same_places<A, B>;
  constexpr mismatch why = apart ? mismatch::places : why_not_elementwise(Op, a{}, b{});
  if constexpr (sizeof...(Rest) == 0 || why != mismatch::none)
    return result_unless<why, where>{};
  else
    return elementwise_of<Op, where, Rest...>();
}

/// The placement of an elementwise operation's result: `type` and `why`.
template <arithmetic Op, class... Where> struct elementwise_result : decltype(elementwise_of<Op, Where...>()) {};
template <arithmetic Op, class A>
struct elementwise_result<Op, A>
    : result_unless<!kind_of<A>::is_summands || (kind_of<A>::is_linear && Op == arithmetic::negation)
                        ? mismatch::none
                        : mismatch::nonlinear,
                    A> {};

template <class Where> struct transposed_placement : std::type_identity<Where> {};
template <class Where>
  requires(kind_of<Where>::axis < 2)
struct transposed_placement<Where> : std::type_identity<with_kind_t<Where, split_along<1 - kind_of<Where>::axis>>> {};

template <class A, class B> constexpr mismatch why_no_product(A a, B b) {
  if (A::is_summands && B::is_summands) return mismatch::partial_product;
  if (A::is_summands || B::is_summands)
    return why_not_elementwise(arithmetic::product, a, b);  // linear in each operand
  if ((A::axis == 1) != (B::axis == 0)) return mismatch::contraction;
  return A::is_split && B::is_split && A::axis != 1 ? mismatch::split_axes : mismatch::none;
}

template <class A, class B> constexpr auto matmul_of() {
  using a = kind_of<A>;
  using b = kind_of<B>;
  if constexpr (!same_places<A, B>)
    return result_unless<mismatch::places, A>{};
  else if constexpr (a::axis == 1 && b::axis == 0)  // each place sums over its part
    return result_unless<mismatch::none, with_kind_t<A, summands<reduction::sum>>>{};
  else
    return result_unless<why_no_product(a{}, b{}), std::conditional_t<a::is_whole, B, A>>{};
}

/// The placement of a matrix product; for a transposed matrix pass its transposed_placement.
template <class A, class B> struct matmul_result : decltype(matmul_of<A, B>()) {};

template <reducing Op, class Where, std::size_t... Axis> constexpr auto reduction_of() {
  using kind = kind_of<Where>;
  constexpr bool split_axis_stays = sizeof...(Axis) != 0 && ((Axis != kind::axis) && ...);
  if constexpr (!kind::is_split) {
    constexpr bool defined = kind::is_whole || (kind::is_linear && (Op == reducing::sum || Op == reducing::mean)) ||
                             (kind::op == reduction::max && Op == reducing::max) ||
                             (kind::op == reduction::min && Op == reducing::min);
    return result_unless<defined ? mismatch::none : mismatch::nonlinear, Where>{};
  } else if constexpr (split_axis_stays) {
    constexpr std::size_t axis = kind::axis - (std::size_t{0} + ... + (Axis < kind::axis));
    return result_unless<mismatch::none, with_kind_t<Where, split_along<axis>>>{};
  } else {
    constexpr mismatch why = Op == reducing::mean       ? mismatch::mean_of_parts
                             : Op == reducing::position ? mismatch::position_in_parts
                             : Op == reducing::function ? mismatch::parts_of_rows
                                                        : mismatch::none;
    constexpr reduction op = Op == reducing::max || Op == reducing::max_of_function   ? reduction::max
                             : Op == reducing::min || Op == reducing::min_of_function ? reduction::min
                                                                                      : reduction::sum;
    return result_unless<why, with_kind_t<Where, summands<op>>>{};
  }
}

/// The placement of the result of a reduction along `Axis...`, or over all elements if no axis is given.
template <reducing Op, class Where, std::size_t... Axis>
struct reduction_result : decltype(reduction_of<Op, Where, Axis...>()) {};

/// The placement of the result of a nonlinear function of rows along `Axis`, such as softmax.
template <std::size_t Axis, class Where>
struct row_function_result : result_unless<kind_of<Where>::is_summands    ? mismatch::nonlinear
                                           : kind_of<Where>::axis == Axis ? mismatch::parts_of_rows
                                                                          : mismatch::none,
                                           Where> {};

}  // namespace devplace::detail

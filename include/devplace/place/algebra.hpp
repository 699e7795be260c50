// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>

#include <devplace/place/placement.hpp>

// The algebra of placements: the placement of every operation's result as a function of its operands' placements. Types
// only; the single source for operations on distributed tensors (ops/), tabulated in docs/algebra.md.
namespace devplace::detail {

/// How an elementwise operation acts on summands. Functions that are not listed are `pointwise`.
enum class arithmetic : unsigned char { pointwise, additive, product, quotient, negation, larger, smaller };

/// Kinds of reductions along axes; `position` stands for argmax and argmin.
enum class reducing : unsigned char { sum, mean, max, min, position };

/// The reason why operands have no common result.
enum class mismatch : unsigned char {
  none,
  places,              ///< they are on different places
  split_axes,          ///< they are split along different axes
  nonlinear,           ///< a function of the summands is not a summand of the function's value
  partial_product,     ///< products of summands are not summands of the product
  counted_repeatedly,  ///< a value added to every summand would be counted once per place
  partial_and_split,   ///< summands of the whole combined with parts of it
  reductions,          ///< summands of different reductions
  contraction,         ///< matmul: the contracted axis is split in one operand only
  mean_of_parts,       ///< parts may differ in size, so their means have different weights
  position_in_parts,   ///< a position in a part is not a position in the whole
  parts_of_rows,       ///< the axis along which a function works is split
};

/// A result's placement, or void and the reason.
template <class Where>
struct lies_on {
  using type = Where;
  static constexpr mismatch why = mismatch::none;
};
template <mismatch Why>
struct refused {
  using type = void;
  static constexpr mismatch why = Why;
};

/// Properties of a kind of placement, for the rules.
template <class Kind>
struct kind_rules;
template <>
struct kind_rules<copies> {
  static constexpr bool whole = true, split = false, partial = false, linear = false;
  static constexpr std::size_t axis = static_cast<std::size_t>(-1);
};
template <std::size_t Axis>
struct kind_rules<split_along<Axis>> {
  static constexpr bool whole = false, split = true, partial = false, linear = false;
  static constexpr std::size_t axis = Axis;
};
template <reduction Op>
struct kind_rules<summands<Op>> {
  static constexpr bool whole = false, split = false, partial = true;
  static constexpr bool linear = Op == reduction::sum || Op == reduction::mean;
  static constexpr std::size_t axis = static_cast<std::size_t>(-1);
  static constexpr reduction op = Op;
};
template <class Where>
using rules_of = kind_rules<typename placement_traits<Where>::kind>;

/// Whether two placements have the same places; one place and a mesh of one place are different.
template <class A, class B>
inline constexpr bool same_places = false;
template <placement A, placement B>
inline constexpr bool same_places<A, B> =
    is_on<A> == is_on<B>&& std::is_same_v<typename placement_traits<A>::mesh, typename placement_traits<B>::mesh>;

/// A function of a single operand.
template <arithmetic Op, class Where>
constexpr auto elementwise_of_one() {
  if constexpr (!rules_of<Where>::partial || (rules_of<Where>::linear && Op == arithmetic::negation))
    return lies_on<Where>{};
  else
    return refused<mismatch::nonlinear>{};
}

/// An operand together with a number or a whole value, which is on the left if `Flipped`.
template <arithmetic Op, class Where, bool Flipped>
constexpr auto elementwise_beside_whole() {
  if constexpr (!placement<Where>)  // a view at here<...>
    return lies_on<Where>{};
  else if constexpr (!rules_of<Where>::partial)
    return lies_on<Where>{};
  else if constexpr (rules_of<Where>::linear && (Op == arithmetic::product || (Op == arithmetic::quotient && !Flipped)))
    return lies_on<Where>{};
  else if constexpr (rules_of<Where>::linear && Op == arithmetic::additive)
    return refused<mismatch::counted_repeatedly>{};
  else
    return refused<mismatch::nonlinear>{};
}

template <arithmetic Op, class A, class B>
constexpr auto elementwise_of_partials() {
  constexpr reduction a = rules_of<A>::op, b = rules_of<B>::op;
  if constexpr (a != b)
    return refused<mismatch::reductions>{};
  else if constexpr ((rules_of<A>::linear && Op == arithmetic::additive) ||
                     (a == reduction::max && Op == arithmetic::larger) ||
                     (a == reduction::min && Op == arithmetic::smaller))
    return lies_on<A>{};
  else if constexpr (Op == arithmetic::product)
    return refused<mismatch::partial_product>{};
  else
    return refused<mismatch::nonlinear>{};
}

/// Two operands; void stands for a number.
template <arithmetic Op, class A, class B>
constexpr auto elementwise_of_two() {
  if constexpr (std::is_void_v<A> && std::is_void_v<B>)
    return lies_on<void>{};
  else if constexpr (std::is_void_v<B>)
    return elementwise_beside_whole<Op, A, false>();
  else if constexpr (std::is_void_v<A>)
    return elementwise_beside_whole<Op, B, true>();
  else if constexpr (!same_places<A, B>)
    return refused<mismatch::places>{};
  else if constexpr (rules_of<B>::whole)
    return elementwise_beside_whole<Op, A, false>();
  else if constexpr (rules_of<A>::whole)
    return elementwise_beside_whole<Op, B, true>();
  else if constexpr (rules_of<A>::partial && rules_of<B>::partial)
    return elementwise_of_partials<Op, A, B>();
  else if constexpr (rules_of<A>::partial || rules_of<B>::partial)
    return refused<mismatch::partial_and_split>{};
  else if constexpr (rules_of<A>::axis != rules_of<B>::axis)
    return refused<mismatch::split_axes>{};
  else
    return lies_on<A>{};
}

/// The placement of an elementwise operation's result: `type` and `why`.
template <arithmetic Op, class... Where>
struct elementwise_result;
template <arithmetic Op, class A>
struct elementwise_result<Op, A> : decltype(elementwise_of_one<Op, A>()) {};
template <arithmetic Op, class A, class B>
struct elementwise_result<Op, A, B> : decltype(elementwise_of_two<Op, A, B>()) {};

// For more operands: the first two, then their result and the next. A partial operand is rejected in any position.
template <arithmetic Op, class First, class... Rest>
struct fold_elementwise;
template <arithmetic Op, class A, class B, class C, class... Rest>
struct elementwise_result<Op, A, B, C, Rest...>
    : fold_elementwise<Op, decltype(elementwise_of_two<Op, A, B>()), C, Rest...> {};
template <arithmetic Op, mismatch Why, class... Rest>
struct fold_elementwise<Op, refused<Why>, Rest...> : refused<Why> {};
template <arithmetic Op, class Where, class... Rest>
struct fold_elementwise<Op, lies_on<Where>, Rest...> : elementwise_result<Op, Where, Rest...> {};

/// The placement of a transposed matrix.
template <class Where>
struct transposed_placement {
  using type = Where;
};
template <class Where>
  requires(rules_of<Where>::axis < 2)
struct transposed_placement<Where> {
  using type = with_kind_t<Where, split_along<1 - rules_of<Where>::axis>>;
};

template <class A, class B>
constexpr auto matmul_of() {
  if constexpr (!same_places<A, B>)
    return refused<mismatch::places>{};
  else if constexpr (rules_of<A>::partial && rules_of<B>::partial)
    return refused<mismatch::partial_product>{};
  else if constexpr ((rules_of<A>::partial && rules_of<B>::split) || (rules_of<A>::split && rules_of<B>::partial))
    return refused<mismatch::partial_and_split>{};
  else if constexpr (rules_of<A>::partial || rules_of<B>::partial)  // linear in each operand
    return elementwise_of_two<arithmetic::product, A, B>();
  else if constexpr (rules_of<A>::axis == 1 && rules_of<B>::axis == 0)  // each place sums over its part
    return lies_on<with_kind_t<A, summands<reduction::sum>>>{};
  else if constexpr (rules_of<A>::axis == 1 || rules_of<B>::axis == 0)
    return refused<mismatch::contraction>{};
  else if constexpr (rules_of<A>::split && rules_of<B>::split)
    return refused<mismatch::split_axes>{};
  else if constexpr (rules_of<A>::split)
    return lies_on<A>{};
  else
    return lies_on<B>{};
}

/// The placement of a matrix product; transposed matrices are given by their transposed_placement.
template <class A, class B>
struct matmul_result : decltype(matmul_of<A, B>()) {};

template <reducing Op, class Where, std::size_t... Axis>
constexpr auto reduction_of() {
  using rules = rules_of<Where>;
  constexpr bool stays = sizeof...(Axis) != 0 && ((Axis != rules::axis) && ...);  // the axis that is split
  if constexpr (rules::whole) {
    return lies_on<Where>{};
  } else if constexpr (rules::partial) {
    if constexpr ((rules::linear && (Op == reducing::sum || Op == reducing::mean)) ||
                  (rules::op == reduction::max && Op == reducing::max) ||
                  (rules::op == reduction::min && Op == reducing::min))
      return lies_on<Where>{};
    else
      return refused<mismatch::nonlinear>{};
  } else if constexpr (stays) {
    return lies_on<with_kind_t<Where, split_along<rules::axis - (std::size_t{0} + ... + (Axis < rules::axis))>>>{};
  } else if constexpr (Op == reducing::mean) {
    return refused<mismatch::mean_of_parts>{};
  } else if constexpr (Op == reducing::position) {
    return refused<mismatch::position_in_parts>{};
  } else {
    constexpr reduction op = Op == reducing::sum   ? reduction::sum
                             : Op == reducing::max ? reduction::max
                                                   : reduction::min;
    return lies_on<with_kind_t<Where, summands<op>>>{};
  }
}

/// The placement of the result of a reduction along some axes, or over all if none is given.
template <reducing Op, class Where, std::size_t... Axis>
struct reduction_result : decltype(reduction_of<Op, Where, Axis...>()) {};

template <std::size_t Axis, class Where>
constexpr auto rows_of_placement() {
  if constexpr (rules_of<Where>::partial)
    return refused<mismatch::nonlinear>{};
  else if constexpr (rules_of<Where>::axis == Axis)
    return refused<mismatch::parts_of_rows>{};
  else
    return lies_on<Where>{};
}

/// The placement of the result of a nonlinear function of rows along `Axis`, such as softmax.
template <std::size_t Axis, class Where>
struct row_function_result : decltype(rows_of_placement<Axis, Where>()) {};

}  // namespace devplace::detail

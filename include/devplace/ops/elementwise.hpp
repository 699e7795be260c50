// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <devplace/ops/assign.hpp>
#include <devplace/ops/detail/elementary.hpp>
#include <devplace/ops/detail/make_expression.hpp>
#include <devplace/place/detail/refusal.hpp>
#include <devplace/tensor/detail/named_expression.hpp>

// Elementwise operations on tensors, views and expressions on one place, and on distributed tensors as far as
// docs/algebra.md allows. They return expressions, which are computed in one pass (per place) when they are assigned or
// a tensor is made from them:
//
//   dp::tensor c = a + 2.0f * dp::exp(-b);   // a new tensor, on the place of a and b
// c = dp::relu(c - mean); // into its elements, without allocating
//   c[0] += 1.0f;                            // into a view
//
// Extents broadcast as in numpy. All operands must have the same element type (cast<T> converts); a number adopts the
// type of the tensors. Comparisons give uint8 elements, 1 for true. NaN, infinities and the sign of zero follow IEEE
// 754; integers wrap around, and division of an integer by 0 gives 0.

namespace devplace {

/// Appears in the compiler's message when operands are on different places.
struct MOVE_ONE_OPERAND_FIRST_with_to_placement;
/// Appears in the compiler's message when operands have different element types.
struct CONVERT_ONE_OPERAND_FIRST_with_cast;

// Defines a function or operator of two operands, one of which may be a number, and a deleted overload, whose name
// shows the fix, for operands that do not match.
#define DEVPLACE_DETAIL_BINARY(name, functor)                                                              \
  template <class A, class B>                                                                              \
    requires(detail::matching_pair<A, B> || detail::distributed_pair<A, B>)                                \
  constexpr auto name(A&& a, B&& b) {                                                                      \
    static_assert(detail::no_named_expressions<A, B>, DEVPLACE_DETAIL_NAMED_EXPRESSION);                   \
    using both = detail::broadcast_pair<detail::extents_of_t<A>, detail::extents_of_t<B>>;                 \
    constexpr bool is_difference = std::is_same_v<detail::elementary::functor, detail::elementary::minus>; \
    static_assert(both::fits, DEVPLACE_DETAIL_OTHER_EXTENTS);                                              \
    static_assert(!both::crossed || !is_difference, DEVPLACE_DETAIL_DIFFERENCE_OF_RANKS);                  \
    if constexpr (both::fits)                                                                              \
      return detail::binary(detail::elementary::functor{}, std::forward<A>(a), std::forward<B>(b));        \
    else /* so that no other error follows */                                                              \
      return detail::unary(detail::elementary::negate{}, std::forward<A>(a));                              \
  }                                                                                                        \
  template <class A, class B, class FIX = MOVE_ONE_OPERAND_FIRST_with_to_placement>                        \
    requires detail::pair_on_different_places<A, B>                                                        \
  void name(A&& a, B&& b) = delete;                                                                        \
  template <class A, class B, class FIX = CONVERT_ONE_OPERAND_FIRST_with_cast>                             \
    requires detail::pair_of_different_elements<A, B>                                                      \
  void name(A&& a, B&& b) = delete

/// Sum, difference, product and quotient of elements.
///@{
DEVPLACE_DETAIL_BINARY(operator+, plus);
DEVPLACE_DETAIL_BINARY(operator-, minus);
DEVPLACE_DETAIL_BINARY(operator*, times);
DEVPLACE_DETAIL_BINARY(operator/, divide);
///@}

/// The larger and the smaller of two elements; NaN if either is NaN. For +0 and -0, either of them.
///@{
DEVPLACE_DETAIL_BINARY(maximum, maximum);
DEVPLACE_DETAIL_BINARY(minimum, minimum);
///@}

/// Comparisons: 1 if true, 0 if not, as uint8. With NaN only != is true.
///@{
DEVPLACE_DETAIL_BINARY(operator==, equal);
DEVPLACE_DETAIL_BINARY(operator!=, not_equal);
DEVPLACE_DETAIL_BINARY(operator<, less);
DEVPLACE_DETAIL_BINARY(operator<=, less_equal);
DEVPLACE_DETAIL_BINARY(operator>, greater);
DEVPLACE_DETAIL_BINARY(operator>=, greater_equal);
///@}

/// a to the power b, as std::pow; for float and double.
DEVPLACE_DETAIL_BINARY(pow, power);

#undef DEVPLACE_DETAIL_BINARY

#define DEVPLACE_DETAIL_UNARY(name, functor)                                          \
  template <detail::operand_type X>                                                   \
  constexpr auto name(X&& x) {                                                        \
    static_assert(detail::no_named_expressions<X>, DEVPLACE_DETAIL_NAMED_EXPRESSION); \
    return detail::unary(detail::elementary::functor{}, std::forward<X>(x));          \
  }                                                                                   \
  static_assert(true)

/// Elements with the opposite sign.
DEVPLACE_DETAIL_UNARY(operator-, negate);
/// Absolute values.
DEVPLACE_DETAIL_UNARY(abs, absolute);
/// x * x.
DEVPLACE_DETAIL_UNARY(square, square);
/// max(x, 0); NaN stays NaN and -0 stays -0, as in PyTorch.
DEVPLACE_DETAIL_UNARY(relu, relu);
/// e to the power x, within 2 ulp; like the following functions for float and double.
DEVPLACE_DETAIL_UNARY(exp, exponential);
/// Natural logarithm.
DEVPLACE_DETAIL_UNARY(log, logarithm);
/// Square root.
DEVPLACE_DETAIL_UNARY(sqrt, square_root);
/// Hyperbolic tangent, within 3 ulp.
DEVPLACE_DETAIL_UNARY(tanh, hyperbolic_tangent);
/// 1 / (1 + exp(-x)), within 3 ulp; 0 where exp(-x) overflows.
DEVPLACE_DETAIL_UNARY(sigmoid, sigmoid);

#undef DEVPLACE_DETAIL_UNARY

/// Converts the elements to type T. From floating point to integers truncates towards zero, clamps to T's range and
/// maps NaN to 0; integers that are too large keep their low bits.
template <element T, detail::operand_type X>
constexpr auto cast(X&& x) {
  static_assert(detail::no_named_expressions<X>, DEVPLACE_DETAIL_NAMED_EXPRESSION);
  return detail::unary(detail::elementary::convert<T>{}, std::forward<X>(x));
}

/// An expression that may have a name: `auto s = lazy(sigmoid(x)); y = s * (1 - s);`. It is computed at each use, from
/// what its tensors hold then; other expressions cannot be used by a name. Of an expression with a name, it refers to
/// the tensors that the expression owns.
template <detail::operand_type X>
  requires detail::is_expression_type<std::remove_cvref_t<X>>
constexpr auto lazy(X&& x) {
  if constexpr (std::is_lvalue_reference_v<X>)
    return lazy_expression(x.borrowed());
  else
    return lazy_expression(detail::unmarked(std::move(x)));
}

}  // namespace devplace

namespace devplace::detail {

template <class X>
concept operand_or_number = elementwise_operand<X> || number<X>;

template <class Condition, class A, class B>
concept choice = elementwise_operand<Condition> && operand_or_number<A> && operand_or_number<B>;

template <class Condition, class A, class B>
inline constexpr bool choice_on_one_place =
    same_placements<Condition, A>&& same_placements<Condition, B>&& same_placements<A, B>;

/// Arguments of where(), at least one of which is over several places.
template <class Condition, class A, class B>
concept distributed_choice = beside_distributed_operand<Condition> && !number<Condition> &&
                             beside_distributed_operand<A> && beside_distributed_operand<B> &&
                             (distributed_operand<Condition> || distributed_operand<A> || distributed_operand<B>);

/// A user's functor for elements of these operands. Devices get a copy of its bytes.
template <class F, class... X>
concept functor_of = std::is_trivially_copyable_v<F> && requires(const F& f, const value_type_of<X>&... x) {
  requires is_element<std::remove_cvref_t<decltype(f(x...))>>;
};

template <class First, class... Rest>
inline constexpr bool extents_fit = (broadcast_pair<extents_of_t<First>, extents_of_t<Rest>>::fits && ...);

/// A functor and operands on one place.
template <class F, class... X>
concept elementwise_functor = !elementwise_operand<F> && (elementwise_operand<X> && ...) && sizeof...(X) > 0 &&
                              functor_of<std::remove_cvref_t<F>, X...>&& extents_fit<X...>;

/// The same if some operand is over several places.
template <class F, class... X>
concept distributed_functor = !beside_distributed_operand<F> && (distributed_operand<X> || ...) &&
                              ((distributed_operand<X> || elementwise_operand<X>)&&...) &&
                              functor_of<std::remove_cvref_t<F>, X...> && extents_fit<X...>;

template <class First, class... Rest>
inline constexpr bool all_on_one_place = (same_placements<First, Rest> && ...);

/// Targets of compound assignment: a tensor that is not a temporary, or a view.
template <class X>
concept assignable = is_view<std::remove_cvref_t<X>> ||
    (std::is_lvalue_reference_v<X>&& is_tensor<std::remove_cvref_t<X>>&& elementwise_operand<X>);

/// Compound assignment over several places. If either side is on one place, it is rejected with an error message.
template <class To, class X>
concept distributed_compound_pair = (std::is_lvalue_reference_v<To> && is_distributed_tensor<std::remove_cvref_t<To>> &&
                                     beside_distributed_operand<X>) ||
                                    (assignable<To> && distributed_operand<X>);

}  // namespace devplace::detail

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Elements of `a` where the condition's element, a uint8, is not 0, elements of `b` elsewhere: `where(x > 0, x, 0)`.
/// Only the selected element is used, so NaN in the other has no effect. `a` and `b` may be numbers.
template <class Condition, class A, class B>
  requires((detail::choice<Condition, A, B> && detail::choice_on_one_place<Condition, A, B> &&
            detail::same_values<A, B>) ||
           detail::distributed_choice<Condition, A, B>)
constexpr auto where(Condition&& condition, A&& a, B&& b) {
  static_assert(detail::no_named_expressions<Condition, A, B>, DEVPLACE_DETAIL_NAMED_EXPRESSION);
  using value = detail::pair_value_t<A, B>;
  static_assert(std::is_same_v<detail::value_type_of<Condition>, std::uint8_t>,
                "devplace: where: the condition must have uint8 elements; write a comparison, such as x != 0.");
  return detail::applied(detail::elementary::select{}, detail::elements_are<std::uint8_t, value, value>{},
                         std::forward<Condition>(condition), std::forward<A>(a), std::forward<B>(b));
}
template <class Condition, class A, class B, class FIX = MOVE_ONE_OPERAND_FIRST_with_to_placement>
  requires(detail::choice<Condition, A, B> && !detail::choice_on_one_place<Condition, A, B>)
void where(Condition&& condition, A&& a, B&& b) = delete;
template <class Condition, class A, class B, class FIX = CONVERT_ONE_OPERAND_FIRST_with_cast>
  requires(detail::choice<Condition, A, B>&& detail::choice_on_one_place<Condition, A, B> && !detail::same_values<A, B>)
void where(Condition&& condition, A&& a, B&& b) = delete;
template <class... WRITE_where_condition_a_b_WITH_A_TENSOR>
void where(...) = delete;

/// Applies a functor of your own to the elements of one or more operands, whose element types may differ:
/// ```
/// struct clipped {
///   float limit;
///   DEVPLACE_HD float operator()(float x) const { return x > limit ? limit : x; }
/// };
/// dp::tensor y = dp::map(clipped{3}, x);
/// ```
/// The functor is a trivially copyable struct whose const call operator is marked DEVPLACE_HD, so that it runs on every
/// place. It must not depend on the order in which elements are computed.
template <class F, class... X>
  requires((detail::elementwise_functor<F, X...> && detail::all_on_one_place<X...>) ||
           detail::distributed_functor<F, X...>)
constexpr auto map(F&& functor, X&&... x) {
  static_assert(detail::no_named_expressions<X...>, DEVPLACE_DETAIL_NAMED_EXPRESSION);
  return detail::applied(std::remove_cvref_t<F>(functor), detail::elements_are<detail::value_type_of<X>...>{},
                         std::forward<X>(x)...);
}
/// Operands on different places, and any other arguments, are refused.
///@{
template <class F, class... X, class FIX = MOVE_ONE_OPERAND_FIRST_with_to_placement>
  requires(detail::elementwise_functor<F, X...> && !detail::all_on_one_place<X...>)
detail::refusal map(F&& functor, X&&... x)
DEVPLACE_REFUSED(
    "map: the operands are on different places; move one to the other's placement first, with to<placement>(x).");
template <class... GIVE_A_FUNCTOR_OF_NUMBERS_AND_THEN_THE_TENSORS>
detail::refusal map(const auto&...) DEVPLACE_REFUSED(
    "map: the first argument is a functor, a trivially copyable struct or lambda whose const call operator takes one "
    "element of each of the tensors that follow, by value, and returns one; their extents are equal or broadcast.");
template <class... GIVE_A_FUNCTOR_OF_NUMBERS_AND_THEN_THE_TENSORS>
detail::refusal map(double (*)(double), ...) DEVPLACE_REFUSED(
    "map: a function such as std::sin has several types; give a lambda, [](float x) { return std::sin(x); }.");
///@}

#define DEVPLACE_DETAIL_COMPOUND(name, functor)                                                                    \
  template <class To, class X>                                                                                     \
    requires((detail::assignable<To> && detail::matching_pair<To, X>) || detail::distributed_compound_pair<To, X>) \
  To && name(To&& destination, X&& x) {                                                                            \
    static_assert(detail::no_named_expressions<X>, DEVPLACE_DETAIL_NAMED_EXPRESSION);                              \
    detail::assign_compound(detail::elementary::functor{}, destination, std::forward<X>(x));                       \
    return std::forward<To>(destination);                                                                          \
  }                                                                                                                \
  template <detail::assignable To, class X, class FIX = MOVE_ONE_OPERAND_FIRST_with_to_placement>                  \
    requires detail::pair_on_different_places<To, X>                                                               \
  void name(To&& destination, X&& x) = delete;                                                                     \
  template <detail::assignable To, class X, class FIX = CONVERT_ONE_OPERAND_FIRST_with_cast>                       \
    requires detail::pair_of_different_elements<To, X>                                                             \
  void name(To&& destination, X&& x) = delete

/// Modifies the elements of a tensor or view in place; the other operand is broadcast to it if necessary.
///@{
DEVPLACE_DETAIL_COMPOUND(operator+=, plus);
DEVPLACE_DETAIL_COMPOUND(operator-=, minus);
DEVPLACE_DETAIL_COMPOUND(operator*=, times);
DEVPLACE_DETAIL_COMPOUND(operator/=, divide);
///@}

#undef DEVPLACE_DETAIL_COMPOUND

}  // namespace devplace::inline DEVPLACE_CONFIGURATION

// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <devplace/ops/assign.hpp>
#include <devplace/ops/detail/elementary.hpp>
#include <devplace/ops/detail/operations.hpp>
#include <devplace/place/detail/refusal.hpp>
#include <devplace/tensor/detail/named_expression.hpp>

// Elementwise operations on tensors, views and expressions on one place, and on distributed tensors as far as
// docs/algebra.md allows. They return expressions, which are computed in one pass (per place) when they are assigned or
// a tensor is made from them:
//
//   dp::tensor c = a + 2.0f * dp::exp(-b);   a new tensor, on the place of a and b
//   c = dp::relu(c - mean);                  into its elements, without allocating
//   c[0] += 1.0f;                            into a view
//
// Extents broadcast as in numpy. All operands must have the same element type (cast<T> converts); a number adopts the
// type of the tensors. Elements of bf16 and half are computed in float, beside numbers that are not rounded, and each
// operation rounds its result. Comparisons give uint8 elements, 1 for true. NaN, infinities and the sign of zero follow
// IEEE 754; integers wrap around, and division of an integer by 0 gives 0.

namespace devplace {

// Defines a function or operator of two operands, one of which may be a number, and refuses other operands.
#define DEVPLACE_DETAIL_BINARY(name, function)                              \
  template <class A, class B>                                               \
    requires(detail::matching_pair<A, B> || detail::distributed_pair<A, B>) \
  constexpr auto name(A&& a, B&& b) {                                       \
    return function(std::forward<A>(a), std::forward<B>(b));                \
  }                                                                         \
  template <class A, class B, class FIX = detail::fix_of_pair<A, B>>        \
    requires detail::unfit_pair<A, B> detail::refusal name(const A& a, const B& b)

/// Sum, difference, product and quotient of elements.
///@{
DEVPLACE_DETAIL_BINARY(operator+, detail::binary<detail::elementary::plus>) DEVPLACE_REFUSED(DEVPLACE_DETAIL_UNFIT);
DEVPLACE_DETAIL_BINARY(operator-, detail::binary<detail::elementary::minus>) DEVPLACE_REFUSED(DEVPLACE_DETAIL_UNFIT);
DEVPLACE_DETAIL_BINARY(operator*, detail::binary<detail::elementary::times>) DEVPLACE_REFUSED(DEVPLACE_DETAIL_UNFIT);
DEVPLACE_DETAIL_BINARY(operator/, detail::binary<detail::elementary::divide>) DEVPLACE_REFUSED(DEVPLACE_DETAIL_UNFIT);
///@}

/// The larger and the smaller of two elements; NaN if either is NaN. For +0 and -0, either of them.
///@{
DEVPLACE_DETAIL_BINARY(maximum, detail::binary<detail::elementary::maximum>) DEVPLACE_REFUSED(DEVPLACE_DETAIL_UNFIT);
DEVPLACE_DETAIL_BINARY(minimum, detail::binary<detail::elementary::minimum>) DEVPLACE_REFUSED(DEVPLACE_DETAIL_UNFIT);
///@}

/// Comparisons: 1 if true, 0 if not, as uint8. With NaN only != is true.
///@{
DEVPLACE_DETAIL_BINARY(operator==, detail::binary<detail::elementary::equal>) DEVPLACE_REFUSED(DEVPLACE_DETAIL_UNFIT);
DEVPLACE_DETAIL_BINARY(operator!=, detail::binary<detail::elementary::not_equal>)
DEVPLACE_REFUSED(DEVPLACE_DETAIL_UNFIT);
DEVPLACE_DETAIL_BINARY(operator<, detail::binary<detail::elementary::less>) DEVPLACE_REFUSED(DEVPLACE_DETAIL_UNFIT);
DEVPLACE_DETAIL_BINARY(operator<=, detail::binary<detail::elementary::less_equal>)
DEVPLACE_REFUSED(DEVPLACE_DETAIL_UNFIT);
DEVPLACE_DETAIL_BINARY(operator>, detail::binary<detail::elementary::greater>) DEVPLACE_REFUSED(DEVPLACE_DETAIL_UNFIT);
DEVPLACE_DETAIL_BINARY(operator>=, detail::binary<detail::elementary::greater_equal>)
DEVPLACE_REFUSED(DEVPLACE_DETAIL_UNFIT);
///@}

/// a to the power b, as std::pow; for floating-point elements.
DEVPLACE_DETAIL_BINARY(pow, detail::binary<detail::elementary::power>) DEVPLACE_REFUSED(DEVPLACE_DETAIL_UNFIT);

#undef DEVPLACE_DETAIL_BINARY

#define DEVPLACE_DETAIL_UNARY(name, function) \
  template <detail::operand_type X>           \
  constexpr auto name(X&& x) {                \
    return function(std::forward<X>(x));      \
  }                                           \
  static_assert(true)

/// Elements with the opposite sign.
DEVPLACE_DETAIL_UNARY(operator-, detail::unary<detail::elementary::negate>);
/// Absolute values.
DEVPLACE_DETAIL_UNARY(abs, detail::unary<detail::elementary::absolute>);
/// x * x.
DEVPLACE_DETAIL_UNARY(square, detail::unary<detail::elementary::square>);
/// max(x, 0); NaN stays NaN and -0 stays -0, as in PyTorch.
DEVPLACE_DETAIL_UNARY(relu, detail::unary<detail::elementary::relu>);
/// e to the power x, within 2 ulp; like the following functions for floating-point elements.
DEVPLACE_DETAIL_UNARY(exp, detail::unary<detail::elementary::exponential>);
/// exp(x) - 1 within 3 ulp, also for small x.
DEVPLACE_DETAIL_UNARY(expm1, detail::unary<detail::elementary::exponential_minus_one>);
/// Natural logarithm within 1 ulp, -infinity for 0 and NaN below.
DEVPLACE_DETAIL_UNARY(log, detail::unary<detail::elementary::logarithm>);
/// Square root.
DEVPLACE_DETAIL_UNARY(sqrt, detail::unary<detail::elementary::square_root>);
/// Hyperbolic tangent, within 3 ulp.
DEVPLACE_DETAIL_UNARY(tanh, detail::unary<detail::elementary::hyperbolic_tangent>);
/// 1 / (1 + exp(-x)), within 3 ulp; 0 where exp(-x) overflows.
DEVPLACE_DETAIL_UNARY(sigmoid, detail::unary<detail::elementary::sigmoid>);
/// The error function, within 4 ulp.
DEVPLACE_DETAIL_UNARY(erf, detail::unary<detail::elementary::error_function>);

#undef DEVPLACE_DETAIL_UNARY

/// Refused: operators of numbers that tensors have under other names.
///@{
template <class A, class B, class FIX = WRITE_c_TIMES_d_OR_maximum_c_d_OF_CONDITIONS>
requires detail::pair_without_operator<A, B> detail::refusal operator&&(const A&, const B&)
    DEVPLACE_REFUSED(DEVPLACE_DETAIL_LOGIC);
template <class A, class B, class FIX = WRITE_c_TIMES_d_OR_maximum_c_d_OF_CONDITIONS>
requires detail::pair_without_operator<A, B> detail::refusal operator||(const A&, const B&)
    DEVPLACE_REFUSED(DEVPLACE_DETAIL_LOGIC);
template <class A, class B, class FIX = WRITE_c_TIMES_d_OR_maximum_c_d_OF_CONDITIONS>
requires detail::pair_without_operator<A, B> detail::refusal operator&(const A&, const B&)
    DEVPLACE_REFUSED(DEVPLACE_DETAIL_LOGIC);
template <class A, class B, class FIX = WRITE_c_TIMES_d_OR_maximum_c_d_OF_CONDITIONS>
requires detail::pair_without_operator<A, B> detail::refusal operator|(const A&, const B&)
    DEVPLACE_REFUSED(DEVPLACE_DETAIL_LOGIC);
template <class A, class B, class FIX = WRITE_pow_x_2_OR_square_x>
requires detail::pair_without_operator<A, B> detail::refusal operator^(const A&, const B&)
    DEVPLACE_REFUSED("powers are pow(x, 2.0f), and squares are square(x).");
template <class... WRITE_minimum_OF_maximum_x_low_AND_high>
detail::refusal clamp(...) DEVPLACE_REFUSED("clamp: write minimum(maximum(x, low), high).");
///@}

/// Converts the elements to type T. From floating point to integers truncates towards zero, clamps to T's range and
/// maps NaN to 0; integers that are too large keep their low bits.
template <element T, detail::operand_type X>
constexpr auto cast(X&& x) {
  return detail::unary<detail::elementary::convert<T>>(std::forward<X>(x));
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
  using value = detail::pair_value_t<A, B>;
  constexpr bool stored = detail::no_named_expressions<Condition, A, B>,
                 condition_of_bytes = std::is_same_v<detail::value_type_of<Condition>, std::uint8_t>,
                 whole = detail::keeps_fraction<A, value> && detail::keeps_fraction<B, value>;
  static_assert(stored, DEVPLACE_DETAIL_NAMED_EXPRESSION);
  static_assert(condition_of_bytes,
                "devplace: where: the condition must have uint8 elements; write a comparison, such as x != 0.");
  static_assert(whole, DEVPLACE_DETAIL_FRACTION);
  if constexpr (condition_of_bytes)
    return detail::applied(detail::elementary::select{}, detail::elements_are<std::uint8_t, value, value>{},
                           std::forward<Condition>(condition), std::forward<A>(a), std::forward<B>(b));
  else  // so that no other error follows
    return detail::unary<detail::elementary::negate>(std::forward<Condition>(condition));
}
/// Other arguments.
template <class... WRITE_where_condition_a_b_WITH_TENSORS_OF_ONE_PLACE_AND_ONE_ELEMENT_TYPE>
detail::refusal where(...) DEVPLACE_REFUSED(
    "where: write where(condition, a, b) with tensors or numbers; move one that is on another place first, "
    "to<placement>(x), and convert elements of another type, cast<T>(x).");

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

#define DEVPLACE_DETAIL_COMPOUND(name, function)                                                                   \
  template <class To, class X>                                                                                     \
    requires((detail::assignable<To> && detail::matching_pair<To, X>) || detail::distributed_compound_pair<To, X>) \
  To && name(To&& destination, X&& x) {                                                                            \
    function(destination, std::forward<X>(x));                                                                     \
    return std::forward<To>(destination);                                                                          \
  }                                                                                                                \
  template <detail::assignable To, class X, class FIX = detail::fix_of_pair<To, X>>                                \
    requires detail::unfit_pair<To, X> detail::refusal name(To&& destination, const X& x)

/// Modifies the elements of a tensor or view in place; the other operand is broadcast to it if necessary.
///@{
DEVPLACE_DETAIL_COMPOUND(operator+=, detail::compound<detail::elementary::plus>)
DEVPLACE_REFUSED(DEVPLACE_DETAIL_UNFIT);
DEVPLACE_DETAIL_COMPOUND(operator-=, detail::compound<detail::elementary::minus>)
DEVPLACE_REFUSED(DEVPLACE_DETAIL_UNFIT);
DEVPLACE_DETAIL_COMPOUND(operator*=, detail::compound<detail::elementary::times>)
DEVPLACE_REFUSED(DEVPLACE_DETAIL_UNFIT);
DEVPLACE_DETAIL_COMPOUND(operator/=, detail::compound<detail::elementary::divide>)
DEVPLACE_REFUSED(DEVPLACE_DETAIL_UNFIT);
///@}

#undef DEVPLACE_DETAIL_COMPOUND

}  // namespace devplace::inline DEVPLACE_CONFIGURATION

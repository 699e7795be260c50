// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <devplace/ops/assign.hpp>
#include <devplace/ops/detail/elementary.hpp>
#include <devplace/ops/detail/expression.hpp>
#include <devplace/ops/distributed_expression.hpp>

// Elementwise operations on tensors, views and expressions of one place, and on tensors over several places as far as
// docs/algebra.md says. They return expressions, which are computed in one pass (per place) when they are assigned or a
// tensor is made from them:
//
//   dp::tensor c = a + 2.0f * dp::exp(-b);   // a new tensor, on the place of a and b
//   c = dp::relu(c - mean);                  // into its elements; nothing is allocated
//   c[0] += 1.0f;                            // into a view
//
// Extents broadcast as in numpy. The element types of all operands are the same (cast<T> converts); a number takes the
// type of the tensor beside it. Comparisons give uint8 elements, 1 where true. NaN, infinities and the sign of zero
// follow IEEE 754; integers wrap around, and dividing one by 0 gives 0.

namespace devplace {

/// Named in the message when operands live on different places.
struct MOVE_ONE_OPERAND_FIRST_with_to_placement;
/// Named in the message when operands have different element types.
struct CONVERT_ONE_OPERAND_FIRST_with_cast;

// Defines a function or operator of two operands, one of which may be a number, and deletes it, with the fix in the
// message, where the operands do not fit together.
#define DEVPLACE_DETAIL_BINARY(name, functor)                                                                 \
  template <class A, class B>                                                                                 \
    requires detail::matching_pair<A, B>                                                                      \
  constexpr auto name(A&& a, B&& b) {                                                                         \
    return detail::binary(detail::elementary::functor{}, std::forward<A>(a), std::forward<B>(b));             \
  }                                                                                                           \
  template <class A, class B>                                                                                 \
    requires detail::distributed_pair<A, B>                                                                   \
  auto name(A&& a, B&& b) {                                                                                   \
    return detail::distributed_binary(detail::elementary::functor{}, std::forward<A>(a), std::forward<B>(b)); \
  }                                                                                                           \
  template <class A, class B, class FIX = MOVE_ONE_OPERAND_FIRST_with_to_placement>                           \
    requires detail::pair_on_different_places<A, B>                                                           \
  void name(A&& a, B&& b) = delete;                                                                           \
  template <class A, class B, class FIX = CONVERT_ONE_OPERAND_FIRST_with_cast>                                \
    requires detail::pair_of_different_elements<A, B>                                                         \
  void name(A&& a, B&& b) = delete

/// Sum, difference, product and quotient of elements.
///@{
DEVPLACE_DETAIL_BINARY(operator+, plus);
DEVPLACE_DETAIL_BINARY(operator-, minus);
DEVPLACE_DETAIL_BINARY(operator*, times);
DEVPLACE_DETAIL_BINARY(operator/, divide);
///@}

/// The greater and the smaller of two elements; NaN if one of them is. Of +0 and -0 either.
///@{
DEVPLACE_DETAIL_BINARY(maximum, maximum);
DEVPLACE_DETAIL_BINARY(minimum, minimum);
///@}

/// Comparisons: 1 where true, 0 elsewhere, as uint8. With NaN only != is true.
///@{
DEVPLACE_DETAIL_BINARY(operator==, equal);
DEVPLACE_DETAIL_BINARY(operator!=, not_equal);
DEVPLACE_DETAIL_BINARY(operator<, less);
DEVPLACE_DETAIL_BINARY(operator<=, less_equal);
DEVPLACE_DETAIL_BINARY(operator>, greater);
DEVPLACE_DETAIL_BINARY(operator>=, greater_equal);
///@}

/// a to the power b, as std::pow; float and double.
DEVPLACE_DETAIL_BINARY(pow, power);

#undef DEVPLACE_DETAIL_BINARY

#define DEVPLACE_DETAIL_UNARY(name, functor)                                             \
  template <detail::elementwise_operand X>                                               \
  constexpr auto name(X&& x) {                                                           \
    return detail::unary(detail::elementary::functor{}, std::forward<X>(x));             \
  }                                                                                      \
  template <detail::distributed_operand X>                                               \
  auto name(X&& x) {                                                                     \
    return detail::distributed_unary(detail::elementary::functor{}, std::forward<X>(x)); \
  }                                                                                      \
  static_assert(true)

/// Elements with the opposite sign.
DEVPLACE_DETAIL_UNARY(operator-, negate);
/// Absolute values.
DEVPLACE_DETAIL_UNARY(abs, absolute);
/// x * x.
DEVPLACE_DETAIL_UNARY(square, square);
/// max(x, 0); NaN stays NaN and -0 stays -0, as in PyTorch.
DEVPLACE_DETAIL_UNARY(relu, relu);
/// e to the power x; float and double, as the following.
DEVPLACE_DETAIL_UNARY(exp, exponential);
/// Natural logarithm.
DEVPLACE_DETAIL_UNARY(log, logarithm);
/// Square root.
DEVPLACE_DETAIL_UNARY(sqrt, square_root);
/// Hyperbolic tangent.
DEVPLACE_DETAIL_UNARY(tanh, hyperbolic_tangent);
/// 1 / (1 + exp(-x)).
DEVPLACE_DETAIL_UNARY(sigmoid, sigmoid);

#undef DEVPLACE_DETAIL_UNARY

/// The elements as type T. Floating-point ones become integers by truncation towards zero, clamped to T's range, NaN
/// becoming 0; integers that are too large keep their low bits.
template <element T, detail::elementwise_operand X>
constexpr auto cast(X&& x) {
  return detail::unary(detail::elementary::convert<T>{}, std::forward<X>(x));
}
/// The same over several places.
template <element T, detail::distributed_operand X>
auto cast(X&& x) {
  return detail::distributed_unary(detail::elementary::convert<T>{}, std::forward<X>(x));
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

/// A choice in which some operand has elements over several places.
template <class Condition, class A, class B>
concept distributed_choice = beside_distributed_operand<Condition> && !number<Condition> &&
                             beside_distributed_operand<A> && beside_distributed_operand<B> &&
                             (distributed_operand<Condition> || distributed_operand<A> || distributed_operand<B>);

/// A functor of the user's for elements of these operands.
template <class F, class... X>
concept elementwise_functor = !elementwise_operand<F> && (elementwise_operand<X> && ...) && sizeof...(X) > 0 &&
                              requires(const std::remove_cvref_t<F>& f, const value_type_of<X>&... x) {
  f(x...);
};

/// The same, where some operand has elements over several places.
template <class F, class... X>
concept distributed_functor = !beside_distributed_operand<F> && (distributed_operand<X> || ...) &&
                              ((distributed_operand<X> || elementwise_operand<X>)&&...) &&
                              requires(const std::remove_cvref_t<F>& f, const value_type_of<X>&... x) {
  f(x...);
};

template <class First, class... Rest>
inline constexpr bool all_on_one_place = (same_placements<First, Rest> && ...);

/// What compound assignment writes to: a tensor that is not a temporary, or a view.
template <class X>
concept assignable = is_view<std::remove_cvref_t<X>> ||
    (std::is_lvalue_reference_v<X>&& is_tensor_on_one_place<std::remove_cvref_t<X>>);

/// Compound assignment over several places. One that is on one place on either side is refused with a sentence.
template <class To, class X>
concept distributed_compound_pair = (std::is_lvalue_reference_v<To> && is_distributed_tensor<std::remove_cvref_t<To>> &&
                                     beside_distributed_operand<X>) ||
                                    (assignable<To> && distributed_operand<X>);

}  // namespace devplace::detail

namespace devplace {

/// Elements of `a` where the condition's element, a uint8, is not 0, elements of `b` elsewhere: `where(x > 0, x, 0)`.
/// Only the chosen one reaches the result, so NaN in the other does no harm. `a` and `b` may be numbers.
template <class Condition, class A, class B>
  requires(detail::choice<Condition, A, B>&& detail::choice_on_one_place<Condition, A, B>&& detail::same_values<A, B>)
constexpr auto where(Condition&& condition, A&& a, B&& b) {
  using value = detail::pair_value_t<A, B>;
  static_assert(std::is_same_v<detail::value_type_of<Condition>, std::uint8_t>,
                "devplace: where: the condition must have uint8 elements; write a comparison, such as x != 0.");
  return detail::make_expression(
      detail::elementary::select{}, detail::make_operand<std::uint8_t>(std::forward<Condition>(condition)),
      detail::make_operand<value>(std::forward<A>(a)), detail::make_operand<value>(std::forward<B>(b)));
}
/// The same over several places.
template <class Condition, class A, class B>
  requires detail::distributed_choice<Condition, A, B>
auto where(Condition&& condition, A&& a, B&& b) {
  using value = detail::pair_value_t<A, B>;
  static_assert(std::is_same_v<detail::value_type_of<Condition>, std::uint8_t>,
                "devplace: where: the condition must have uint8 elements; write a comparison, such as x != 0.");
  return detail::distributed(detail::elementary::select{}, detail::elements_are<std::uint8_t, value, value>{},
                             std::forward<Condition>(condition), std::forward<A>(a), std::forward<B>(b));
}
template <class Condition, class A, class B, class FIX = MOVE_ONE_OPERAND_FIRST_with_to_placement>
  requires(detail::choice<Condition, A, B> && !detail::choice_on_one_place<Condition, A, B>)
void where(Condition&& condition, A&& a, B&& b) = delete;
template <class Condition, class A, class B, class FIX = CONVERT_ONE_OPERAND_FIRST_with_cast>
  requires(detail::choice<Condition, A, B>&& detail::choice_on_one_place<Condition, A, B> && !detail::same_values<A, B>)
void where(Condition&& condition, A&& a, B&& b) = delete;

/// Applies a functor of your own to the elements of one or more operands, whose element types may differ:
/// ```
/// struct clipped {
///   float limit;
///   DEVPLACE_HD float operator()(float x) const { return x > limit ? limit : x; }
/// };
/// dp::tensor y = dp::map(clipped{3}, x);
/// ```
/// The functor is a trivially copyable struct whose const call operator is marked DEVPLACE_HD, which makes it run on
/// every place. It must not depend on the order in which elements are computed.
template <class F, class... X>
  requires(detail::elementwise_functor<F, X...>&& detail::all_on_one_place<X...>)
constexpr auto map(F&& functor, X&&... x) {
  return detail::make_expression<std::remove_cvref_t<F>>(
      functor, detail::make_operand<detail::value_type_of<X>>(std::forward<X>(x))...);
}
/// The same over several places.
template <class F, class... X>
  requires detail::distributed_functor<F, X...>
auto map(F&& functor, X&&... x) {
  return detail::distributed(std::remove_cvref_t<F>(functor), detail::elements_are<detail::value_type_of<X>...>{},
                             std::forward<X>(x)...);
}
template <class F, class... X, class FIX = MOVE_ONE_OPERAND_FIRST_with_to_placement>
  requires(detail::elementwise_functor<F, X...> && !detail::all_on_one_place<X...>)
void map(F&& functor, X&&... x) = delete;

}  // namespace devplace

namespace devplace::inline DEVPLACE_CONFIGURATION {

#define DEVPLACE_DETAIL_COMPOUND(name, functor)                                                     \
  template <detail::assignable To, class X>                                                         \
    requires detail::matching_pair<To, X> To && name(To&& destination, X&& x) {                     \
      const auto window = detail::as_window(destination);                                           \
      assign(window, detail::binary(detail::elementary::functor{}, window, std::forward<X>(x)));    \
      return std::forward<To>(destination);                                                         \
    }                                                                                               \
  template <class To, class X>                                                                      \
    requires detail::distributed_compound_pair<To, X> To name(To&& destination, X&& x) {            \
      detail::distributed_compound(detail::elementary::functor{}, destination, std::forward<X>(x)); \
      return std::forward<To>(destination);                                                         \
    }                                                                                               \
  template <detail::assignable To, class X, class FIX = MOVE_ONE_OPERAND_FIRST_with_to_placement>   \
    requires detail::pair_on_different_places<To, X>                                                \
  void name(To&& destination, X&& x) = delete;                                                      \
  template <detail::assignable To, class X, class FIX = CONVERT_ONE_OPERAND_FIRST_with_cast>        \
    requires detail::pair_of_different_elements<To, X>                                              \
  void name(To&& destination, X&& x) = delete

/// Changes the elements of a tensor or view in place; the other operand broadcasts to it, not the other way.
///@{
DEVPLACE_DETAIL_COMPOUND(operator+=, plus);
DEVPLACE_DETAIL_COMPOUND(operator-=, minus);
DEVPLACE_DETAIL_COMPOUND(operator*=, times);
DEVPLACE_DETAIL_COMPOUND(operator/=, divide);
///@}

#undef DEVPLACE_DETAIL_COMPOUND

}  // namespace devplace::inline DEVPLACE_CONFIGURATION

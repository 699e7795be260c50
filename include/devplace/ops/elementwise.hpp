// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <devplace/base/refusal.hpp>
#include <devplace/ops/detail/elementary.hpp>
#include <devplace/ops/detail/operations.hpp>

// Elementwise operations on tensors, views and expressions on one place, and on distributed tensors as far as
// docs/algebra.md allows. These operations return expressions. An expression is computed in one pass (per place) when
// it is assigned, or when a tensor is made from it:
//
//   dp::tensor c = a + 2.0f * dp::exp(-b);   a new tensor, on the place of a and b
//   c = dp::relu(c - mean);                  into c's elements, without allocating
//   c[0] += 1.0f;                            into a view
//
// Extents broadcast as in numpy. All operands must have the same element type (cast<T> converts); a number adopts the
// type of the tensors. Elements of bf16 and half are computed in float, and each operation rounds its result; numbers
// among the operands are not rounded. Comparisons give uint8 elements, 1 for true. NaN, infinities and the sign of zero
// follow IEEE 754; integers wrap around, and division of an integer by 0 gives 0.

namespace devplace {

/// Sum, difference, product and quotient of elements.
///@{
DEVPLACE_DETAIL_BINARY(operator+, detail::binary<detail::elementary::plus>);
DEVPLACE_DETAIL_BINARY(operator-, detail::binary<detail::elementary::minus>);
DEVPLACE_DETAIL_BINARY(operator*, detail::binary<detail::elementary::times>);
DEVPLACE_DETAIL_BINARY(operator/, detail::binary<detail::elementary::divide>);
///@}

/// The larger and the smaller of two elements; NaN if either is NaN. Of +0 and -0, the result may be either.
///@{
DEVPLACE_DETAIL_BINARY(maximum, detail::binary<detail::elementary::maximum>);
DEVPLACE_DETAIL_BINARY(minimum, detail::binary<detail::elementary::minimum>);
///@}

/// Comparisons: 1 if true, 0 if not, as uint8. With NaN only != is true.
///@{
DEVPLACE_DETAIL_BINARY(operator==, detail::binary<detail::elementary::equal>);
DEVPLACE_DETAIL_BINARY(operator!=, detail::binary<detail::elementary::not_equal>);
DEVPLACE_DETAIL_BINARY(operator<, detail::binary<detail::elementary::less>);
DEVPLACE_DETAIL_BINARY(operator<=, detail::binary<detail::elementary::less_equal>);
DEVPLACE_DETAIL_BINARY(operator>, detail::binary<detail::elementary::greater>);
DEVPLACE_DETAIL_BINARY(operator>=, detail::binary<detail::elementary::greater_equal>);
///@}

/// a to the power b, as std::pow; for floating-point elements.
DEVPLACE_DETAIL_BINARY(pow, detail::binary<detail::elementary::power>);

/// Elements with the opposite sign.
DEVPLACE_DETAIL_UNARY(operator-, detail::unary<detail::elementary::negate>);
/// Absolute values.
DEVPLACE_DETAIL_UNARY(abs, detail::unary<detail::elementary::absolute>);
/// x * x.
DEVPLACE_DETAIL_UNARY(square, detail::unary<detail::elementary::square>);
/// max(x, 0); NaN stays NaN and -0 stays -0, as in PyTorch.
DEVPLACE_DETAIL_UNARY(relu, detail::unary<detail::elementary::relu>);
/// e to the power x, within 2 ulp. This function and the following ones take floating-point elements.
DEVPLACE_DETAIL_UNARY(exp, detail::unary<detail::elementary::exponential>);
/// exp(x) - 1 within 3 ulp, also for small x.
DEVPLACE_DETAIL_UNARY(expm1, detail::unary<detail::elementary::exponential_minus_one>);
/// Natural logarithm within 1 ulp; -infinity for 0, NaN for negative numbers.
DEVPLACE_DETAIL_UNARY(log, detail::unary<detail::elementary::logarithm>);
/// Square root.
DEVPLACE_DETAIL_UNARY(sqrt, detail::unary<detail::elementary::square_root>);
/// Hyperbolic tangent, within 3 ulp.
DEVPLACE_DETAIL_UNARY(tanh, detail::unary<detail::elementary::hyperbolic_tangent>);
/// 1 / (1 + exp(-x)), within 3 ulp; 0 where exp(-x) overflows.
DEVPLACE_DETAIL_UNARY(sigmoid, detail::unary<detail::elementary::sigmoid>);
/// The error function, within 4 ulp.
DEVPLACE_DETAIL_UNARY(erf, detail::unary<detail::elementary::error_function>);

/// Converts the elements to type T, rounded to the nearest floating-point number. From floating point to integers,
/// truncates towards zero, clamps to T's range and maps NaN to 0. Integers that are too large keep their low bits.
template <element T, detail::operand_type X> constexpr auto cast(X&& x) {
  return detail::unary<detail::elementary::convert<T>>(std::forward<X>(x));
}

/// Allows an expression to have a name: `auto s = lazy(sigmoid(x)); y = s * (1 - s);`. Each use computes the expression
/// from its tensors' current elements; without lazy(), named expressions are rejected as operands. lazy() of a named
/// expression refers to the tensors that the named expression owns.
template <detail::operand_type X>
  requires detail::is_expression_type<std::remove_cvref_t<X>>
constexpr auto lazy(X&& x) {
  if constexpr (std::is_lvalue_reference_v<X>)
    return lazy_expression(x.borrowed());
  else
    return lazy_expression(detail::without_lazy(std::move(x)));
}

}  // namespace devplace

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Selects elements of `a` where the condition's element, a uint8, is not 0, and elements of `b` elsewhere: `where(x >
/// 0, x, 0)`. NaN in elements that are not selected has no effect. `a` and `b` may be numbers; two numbers choose the
/// element type: `where(x > 0, 1.0f, 0.0f)`.
template <class A, class B, detail::choice<A, B> Condition> constexpr auto where(Condition&& condition, A&& a, B&& b) {
  constexpr bool operands =
      detail::operand_type<Condition> && detail::operand_or_number<A> && detail::operand_or_number<B>;
  static_assert(operands,
                "devplace: where: the condition must be a comparison of tensors, as in where(x > 0, x, 0), and the "
                "choices tensors, views, expressions or numbers; make a view of a vector with wrap(v, extents(n)).");
  constexpr bool together = detail::all_on_one_place<Condition, A, B> && detail::same_placements<A, B>,
                 same = detail::same_values<A, B>;
  static_assert(together, DEVPLACE_DETAIL_OPERANDS_APART);
  static_assert(same, DEVPLACE_DETAIL_OPERAND_TYPES);
  if constexpr (operands && together && same) {
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
    else
      return detail::refusal{};
  } else {
    return detail::refusal{};
  }
}

/// Applies a functor of your own to the elements of one or more operands. The operands' element types may differ:
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
  requires(detail::operand_type<F> || (detail::operand_type<X> || ...))
constexpr auto map(F&& functor, X&&... x) {
  constexpr bool is_functor = detail::functor_of<std::remove_cvref_t<F>, X...>;
  static_assert(is_functor,
                "devplace: map: the first argument must be a functor, a trivially copyable struct or lambda whose "
                "const call operator takes one element of each of the tensors that follow, by value, and returns one.");
  if constexpr (is_functor) {
    constexpr bool stored = detail::no_named_expressions<X...>, together = detail::all_on_one_place<X...>,
                   fits = detail::extents_fit<X...>;
    static_assert(stored, DEVPLACE_DETAIL_NAMED_EXPRESSION);
    static_assert(together, DEVPLACE_DETAIL_OPERANDS_APART);
    static_assert(fits, DEVPLACE_DETAIL_OTHER_EXTENTS);
    if constexpr (together && fits)
      return detail::applied(std::remove_cvref_t<F>(functor), detail::elements_are<detail::value_type_of<X>...>{},
                             std::forward<X>(x)...);
    else
      return detail::refusal{};
  } else {
    return detail::refusal{};
  }
}

#define DEVPLACE_DETAIL_COMPOUND(name, function)                     \
  template <class To, class X>                                       \
    requires(detail::assignable<To> && detail::accepted_argument<X>) \
  To&& name(To&& destination, X&& x) {                               \
    function(destination, std::forward<X>(x));                       \
    return std::forward<To>(destination);                            \
  }                                                                  \
  static_assert(true)

/// Modifies the elements of a tensor or view in place; broadcasts the other operand if necessary.
///@{
DEVPLACE_DETAIL_COMPOUND(operator+=, detail::compound<detail::elementary::plus>);
DEVPLACE_DETAIL_COMPOUND(operator-=, detail::compound<detail::elementary::minus>);
DEVPLACE_DETAIL_COMPOUND(operator*=, detail::compound<detail::elementary::times>);
DEVPLACE_DETAIL_COMPOUND(operator/=, detail::compound<detail::elementary::divide>);
///@}

#undef DEVPLACE_DETAIL_COMPOUND

}  // namespace devplace::inline DEVPLACE_CONFIGURATION

// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>
#include <utility>

#include <devplace/ops/detail/elementary.hpp>
#include <devplace/ops/detail/expression.hpp>
#include <devplace/ops/detail/placement_check.hpp>

namespace devplace::detail {

template <class... Placements> struct common_placement {
  using type = void;
};
template <class First, class... Rest> struct common_placement<First, Rest...> {
  using type = First;
};
template <class... Rest> struct common_placement<void, Rest...> : common_placement<Rest...> {};

/// How an elementwise function acts on summands with elements of type T. Quotients of integers are truncated and
/// therefore not linear.
template <class F, class T> inline constexpr arithmetic arithmetic_of = arithmetic::pointwise;
template <class T> inline constexpr arithmetic arithmetic_of<elementary::plus, T> = arithmetic::additive;
template <class T> inline constexpr arithmetic arithmetic_of<elementary::minus, T> = arithmetic::additive;
template <class T> inline constexpr arithmetic arithmetic_of<elementary::times, T> = arithmetic::product;
template <class T>
  requires(!std::is_integral_v<T>)
inline constexpr arithmetic arithmetic_of<elementary::divide, T> = arithmetic::quotient;
template <class T> inline constexpr arithmetic arithmetic_of<elementary::negate, T> = arithmetic::negation;
template <class T> inline constexpr arithmetic arithmetic_of<elementary::maximum, T> = arithmetic::larger;
template <class T> inline constexpr arithmetic arithmetic_of<elementary::minimum, T> = arithmetic::smaller;
template <class F, class Storage, class T>
inline constexpr arithmetic arithmetic_of<elementary::in_float<F, Storage>, T> = arithmetic_of<F, T>;

/// The placement of an argument; void for a number.
template <class X> struct placement_or_number {
  using type = void;
};
template <operand_type X> struct placement_or_number<X> {
  using type = placement_type_of<X>;
};

/// Returns why the algebra of placements rejects F of these arguments. T is the element type of the last argument.
template <class F, class T, class... X> constexpr mismatch why_not() {
  if constexpr ((distributed_operand<X> || ...))
    return elementwise_result<arithmetic_of<F, T>, typename placement_or_number<X>::type...>::why;
  else
    return mismatch::none;
}

/// Makes an expression of operands on one place, or over several if the algebra of placements allows it.
template <class F, class... Operands> constexpr auto make_expression(const F& function, Operands... operands) {
  if constexpr ((over_several_places<typename Operands::placement_type> || ...)) {
    using last = typename std::tuple_element_t<sizeof...(Operands) - 1, std::tuple<Operands...>>::value_type;
    using rule = elementwise_result<arithmetic_of<F, last>, typename Operands::placement_type...>;
    if constexpr (common_result<rule>::value)
      return expression<typename rule::type, F, Operands...>(function, std::move(operands)...);
    else
      return refusal{};
  } else {
    using where = typename common_placement<typename Operands::placement_type...>::type;
    return expression<where, F, Operands...>(function, std::move(operands)...);
  }
}

/// The element types of a function's operands, in order.
template <class... T> struct elements_are {};

/// Makes an expression of arguments with the given element types; numbers adopt these types.
template <class F, class... T, class... X> constexpr auto applied(const F& function, elements_are<T...>, X&&... x) {
  return make_expression(function, make_operand<T>(std::forward<X>(x))...);
}

}  // namespace devplace::detail

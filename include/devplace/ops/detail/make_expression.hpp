// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>
#include <utility>

#include <devplace/ops/assign.hpp>
#include <devplace/ops/detail/elementary.hpp>
#include <devplace/ops/detail/expression.hpp>
#include <devplace/ops/detail/placement_check.hpp>

// Expressions from the arguments of elementwise operations.
namespace devplace::detail {

template <class... Placements>
struct common_placement {
  using type = void;
};
template <class First, class... Rest>
struct common_placement<First, Rest...> {
  using type = First;
};
template <class... Rest>
struct common_placement<void, Rest...> : common_placement<Rest...> {};

/// How an elementwise function acts on summands with elements of type T. Integer quotients are truncated, so they are
/// not linear.
template <class F, class T>
inline constexpr arithmetic arithmetic_of = arithmetic::pointwise;
template <class T>
inline constexpr arithmetic arithmetic_of<elementary::plus, T> = arithmetic::additive;
template <class T>
inline constexpr arithmetic arithmetic_of<elementary::minus, T> = arithmetic::additive;
template <class T>
inline constexpr arithmetic arithmetic_of<elementary::times, T> = arithmetic::product;
template <floating_element T>
inline constexpr arithmetic arithmetic_of<elementary::divide, T> = arithmetic::quotient;
template <class T>
inline constexpr arithmetic arithmetic_of<elementary::negate, T> = arithmetic::negation;
template <class T>
inline constexpr arithmetic arithmetic_of<elementary::maximum, T> = arithmetic::larger;
template <class T>
inline constexpr arithmetic arithmetic_of<elementary::minimum, T> = arithmetic::smaller;

/// An expression of operands on one place, or, as far as the algebra of placements allows, over several.
template <class F, class... Operands>
constexpr auto make_expression(const F& function, Operands... operands) {
  if constexpr ((over_several_places<typename Operands::placement_type> || ...)) {
    using last = typename std::tuple_element_t<sizeof...(Operands) - 1, std::tuple<Operands...>>::value_type;
    using rule = elementwise_result<arithmetic_of<F, last>, typename Operands::placement_type...>;
    if constexpr (common_result<rule>::value)
      return expression<typename rule::type, F, Operands...>(function, std::move(operands)...);
  } else {
    using where = typename common_placement<typename Operands::placement_type...>::type;
    return expression<where, F, Operands...>(function, std::move(operands)...);
  }
}

/// The element types of a function's operands, in order.
template <class... T>
struct elements_are {};

/// An expression of arguments, which have the given element types; numbers adopt them.
template <class F, class... T, class... X>
constexpr auto applied(const F& function, elements_are<T...>, X&&... x) {
  constexpr bool fitting_elements =
      (std::is_same_v<typename decltype(make_operand<T>(std::forward<X>(x)))::value_type, T> && ...);
  static_assert(fitting_elements,
                "devplace: elementwise: the operands have different element types; convert one with cast<T>(x) first.");
  if constexpr (fitting_elements) return make_expression(function, make_operand<T>(std::forward<X>(x))...);
}

/// Rejects integers in functions that are defined for floating-point numbers only.
template <class F, class Element>
struct elements_of_function {
  static_assert(
      std::is_floating_point_v<Element> || !requires { F::floating_only; },
      "devplace: exp, log, sqrt, tanh, sigmoid and pow take float or double elements; convert them first with "
      "cast<float>(x).");
};

/// An expression of one argument.
template <class F, class X>
constexpr auto unary(const F& function, X&& x) {
  static_cast<void>(sizeof(elements_of_function<F, value_type_of<X>>));
  return applied(function, elements_are<value_type_of<X>>{}, std::forward<X>(x));
}

/// An expression of two arguments, one of which may be a number.
template <class F, class A, class B>
constexpr auto binary(const F& function, A&& a, B&& b) {
  using value = pair_value_t<A, B>;
  static_cast<void>(sizeof(elements_of_function<F, value>));
  if constexpr (std::is_same_v<F, elementary::minus> && operand_type<A> && operand_type<B>) {
    using first = extents_of_t<A>;
    using second = extents_of_t<B>;
    if constexpr (first::rank != second::rank && !(first::is_static && second::is_static))
      require_difference(shape_of(a.extents()), shape_of(b.extents()));
  }
  return applied(function, elements_are<value, value>{}, std::forward<A>(a), std::forward<B>(b));
}

inline namespace DEVPLACE_CONFIGURATION {

/// destination = function(destination, x).
template <class F, class To, class X>
auto assign_compound(const F& function, To& destination, X&& x) {
  if constexpr (distributed_operand<To&> || distributed_operand<X>) {
    static_assert(!std::is_const_v<To>,
                  "devplace: assign: the destination's elements are const; pass a tensor that may be changed.");
    if constexpr (!std::is_const_v<To> && !std::is_void_v<decltype(binary(function, destination, std::forward<X>(x)))>)
      binary(function, destination, std::forward<X>(x)).into(destination);
  } else {
    const auto window = as_window(destination);
    assign(window, binary(function, window, std::forward<X>(x)));
  }
}

}  // namespace DEVPLACE_CONFIGURATION

}  // namespace devplace::detail

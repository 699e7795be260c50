// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include <devplace/ops/assign.hpp>
#include <devplace/ops/detail/elementary.hpp>
#include <devplace/ops/detail/expression.hpp>

namespace devplace::detail {

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
template <class X> struct placement_or_number : std::type_identity<void> {};
template <operand_type X> struct placement_or_number<X> : std::type_identity<placement_type_of<X>> {};

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
    using where = typename first_not_void<typename Operands::placement_type...>::type;
    return expression<where, F, Operands...>(function, std::move(operands)...);
  }
}

template <class... T> struct elements_are {};

/// Makes an expression of arguments with the given element types; numbers adopt these types.
template <class F, class... T, class... X> constexpr auto applied(const F& function, elements_are<T...>, X&&... x) {
  return make_expression(function, make_operand<T>(std::forward<X>(x))...);
}

// Expressions of one or two arguments. The assertions are one call below the public functions, so that a compiler's
// message shows the user's line early.

/// Whether a function takes elements of a type: some functions take floating-point numbers only.
template <class F, class Element>
inline constexpr bool takes_elements = !std::is_integral_v<Element> || !requires { F::floating_only; };

#define DEVPLACE_DETAIL_FLOATING_ONLY                                                                               \
  "devplace: exp, log, sqrt, tanh, sigmoid, pow and the like take floating-point elements; convert integers first " \
  "with cast<float>(x)."
#define DEVPLACE_DETAIL_NO_OPERAND                                                                               \
  "devplace: elementwise: an operand is neither a tensor, a view, an expression nor a number; make a view of a " \
  "vector or an array first, with wrap(v, extents(n))."
#define DEVPLACE_DETAIL_OPERANDS_APART                                                                          \
  "devplace: elementwise: the operands are on different places; move one to the other's placement first, with " \
  "to<placement>(x)."
#define DEVPLACE_DETAIL_OPERAND_TYPES \
  "devplace: elementwise: the operands have different element types; convert one with cast<T>(x) first."
#define DEVPLACE_DETAIL_FRACTION                                                                                  \
  "devplace: elementwise: a floating-point number cannot stand beside integer elements, which would cut off its " \
  "fraction; convert the tensor first, cast<float>(x), or write an integer."

// Defines a public function of one operand.
#define DEVPLACE_DETAIL_UNARY(name, function)                                                           \
  template <detail::operand_type X> constexpr auto name(X&& x) { return function(std::forward<X>(x)); } \
  static_assert(true)

// Defines a function or operator of two operands, one of which may be a number.
#define DEVPLACE_DETAIL_BINARY(name, function)               \
  template <class A, class B>                                \
    requires detail::pair_with_operand<A, B>                 \
  constexpr auto name(A&& a, B&& b) {                        \
    return function(std::forward<A>(a), std::forward<B>(b)); \
  }                                                          \
  static_assert(true)

template <class F, class T> struct function_of : std::type_identity<F> {};
template <class F, storage_element T> struct function_of<F, T> : std::type_identity<elementary::in_float<F, T>> {};
template <class To, storage_element T>
struct function_of<elementary::convert<To>, T> : std::type_identity<elementary::convert<To>> {};
template <class F, class T> using function_of_t = typename function_of<F, T>::type;

/// The element type of an argument that is combined with elements of type T: a number is not rounded to 16 bits.
template <class X, class T> using element_beside_t = std::conditional_t<number<X>, computed_t<T>, T>;

template <class F, class X> constexpr auto unary(X&& x) {
  constexpr bool stored = no_named_expressions<X>, floating = takes_elements<F, value_type_of<X>>;
  static_assert(stored, DEVPLACE_DETAIL_NAMED_EXPRESSION);
  constexpr bool linear = why_not<F, value_type_of<X>, X>() == mismatch::none;
  static_assert(floating, DEVPLACE_DETAIL_FLOATING_ONLY);
  static_assert(linear, DEVPLACE_DETAIL_NONLINEAR);
  if constexpr (linear)
    return applied(function_of_t<F, value_type_of<X>>{}, elements_are<value_type_of<X>>{}, std::forward<X>(x));
  else
    return refusal{};
}

template <class F, class A, class B> constexpr auto binary(A&& a, B&& b) {
  constexpr bool operands = operand_or_number<A> && operand_or_number<B>, together = same_placements<A, B>,
                 same = same_values<A, B>;
  static_assert(operands, DEVPLACE_DETAIL_NO_OPERAND);
  static_assert(together, DEVPLACE_DETAIL_OPERANDS_APART);
  static_assert(same, DEVPLACE_DETAIL_OPERAND_TYPES);
  if constexpr (operands && together && same) {
    using value = pair_value_t<A, B>;
    using first = extents_of_t<A>;
    using second = extents_of_t<B>;
    using both = broadcast_pair<first, second>;
    constexpr bool is_difference = std::is_same_v<F, elementary::minus> && operand_type<A> && operand_type<B>;
    constexpr bool stored = no_named_expressions<A, B>, floating = takes_elements<F, value>, fits = both::fits,
                   pairs = !is_difference || !both::crossed,
                   whole = keeps_fraction<A, value> && keeps_fraction<B, value>;
    constexpr mismatch why = why_not<F, value, A, B>();
    constexpr bool one_placement = why != mismatch::places, one_axis = why != mismatch::split_axes,
                   linear = why != mismatch::nonlinear, one_factor = why != mismatch::partial_product,
                   counted_once = why != mismatch::counted_repeatedly, one_kind = why != mismatch::partial_and_split,
                   one_reduction = why != mismatch::reductions;
    static_assert(stored, DEVPLACE_DETAIL_NAMED_EXPRESSION);
    static_assert(fits, DEVPLACE_DETAIL_OTHER_EXTENTS);
    static_assert(pairs, DEVPLACE_DETAIL_DIFFERENCE_OF_RANKS);
    static_assert(whole, DEVPLACE_DETAIL_FRACTION);
    static_assert(floating, DEVPLACE_DETAIL_FLOATING_ONLY);
    static_assert(one_placement, DEVPLACE_DETAIL_OTHER_PLACES);
    static_assert(one_axis, DEVPLACE_DETAIL_OTHER_AXES);
    static_assert(linear, DEVPLACE_DETAIL_NONLINEAR);
    static_assert(one_factor, DEVPLACE_DETAIL_PRODUCT_OF_SUMMANDS);
    static_assert(counted_once, DEVPLACE_DETAIL_COUNTED_REPEATEDLY);
    static_assert(one_kind, DEVPLACE_DETAIL_SUMMANDS_AND_PARTS);
    static_assert(one_reduction, DEVPLACE_DETAIL_OTHER_REDUCTIONS);
    if constexpr (is_difference && first::rank != second::rank && !(first::is_static && second::is_static))
      require_difference(shape_of(a.extents()), shape_of(b.extents()));
    if constexpr (why != mismatch::none)
      return refusal{};
    else if constexpr (fits)
      return applied(function_of_t<F, value>{}, elements_are<element_beside_t<A, value>, element_beside_t<B, value>>{},
                     std::forward<A>(a), std::forward<B>(b));
    else  // avoids follow-up errors
      return applied(function_of_t<elementary::negate, value>{}, elements_are<value>{}, std::forward<A>(a));
  } else {
    return refusal{};
  }
}

/// Arguments of where(): at least one argument has elements. where() checks the rest.
template <class Condition, class A, class B>
concept choice = accepted_argument<Condition> && accepted_argument<A> && accepted_argument<B> &&
                 (operand_type<Condition> || operand_type<A> || operand_type<B>);

/// A user's functor that computes a new element from an element of each operand; devices get a bytewise copy.
template <class F, class... X>
concept functor_of =
    !operand_or_number<F> && (operand_type<X> && ...) && std::is_trivially_copyable_v<F> &&
    requires(const F& f, const value_type_of<X>&... x) { requires is_element<std::remove_cvref_t<decltype(f(x...))>>; };

template <class First, class... Rest>
inline constexpr bool extents_fit = (broadcast_pair<extents_of_t<First>, extents_of_t<Rest>>::fits && ...);

template <class First, class... Rest> inline constexpr bool all_on_one_place = (same_placements<First, Rest> && ...);

/// Targets of compound assignment: a tensor that is not a temporary, or a view.
template <class X>
concept assignable =
    is_view<std::remove_cvref_t<X>> || (std::is_lvalue_reference_v<X> && is_tensor<std::remove_cvref_t<X>>);

}  // namespace devplace::detail

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

/// destination = F{}(destination, x).
template <class F, class To, class X> auto compound(To& destination, X&& x) {
  constexpr bool operands = operand_or_number<X>, together = same_placements<To&, X>, same = same_values<To&, X>;
  static_assert(operands, DEVPLACE_DETAIL_NO_OPERAND);
  static_assert(together, DEVPLACE_DETAIL_OPERANDS_APART);
  static_assert(same, DEVPLACE_DETAIL_OPERAND_TYPES);
  if constexpr (operands && together && same) {
    using both = broadcast_pair<extents_of_t<To>, extents_of_t<X>>;
    constexpr bool stored = no_named_expressions<X>, whole = keeps_fraction<X, value_type_of<To>>,
                   fits = both::fits && compatible<extents_of_t<To>, typename both::type>;
    static_assert(stored, DEVPLACE_DETAIL_NAMED_EXPRESSION);
    static_assert(whole, DEVPLACE_DETAIL_FRACTION);
    static_assert(fits, DEVPLACE_DETAIL_ASSIGNED_EXTENTS);
    if constexpr (distributed_operand<To&> || distributed_operand<X>) {
      static_assert(!std::is_const_v<To>, DEVPLACE_DETAIL_ASSIGNED_CONST);
      if constexpr (stored && whole && fits && !std::is_const_v<To>) {
        using result = decltype(binary<F>(destination, std::forward<X>(x)));
        if constexpr (!std::is_same_v<result, refusal>) binary<F>(destination, std::forward<X>(x)).into(destination);
      }
    } else {
      const auto window = as_any_view(destination);
      constexpr bool written = !std::is_const_v<typename std::remove_const_t<decltype(window)>::element_type>;
      static_assert(written, DEVPLACE_DETAIL_ASSIGNED_CONST);
      if constexpr (stored && whole && fits && written) assign(window, binary<F>(window, std::forward<X>(x)));
    }
  }
}

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION

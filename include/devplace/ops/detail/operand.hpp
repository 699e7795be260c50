// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/ops/detail/tree.hpp>
#include <devplace/tensor/detail/as_view.hpp>
#include <devplace/tensor/extents.hpp>

namespace devplace {

template <class Where, class F, class... Operands> class expression;
template <class Expression> class lazy_expression;

namespace detail {

// Operands as stored in an expression. All have value_type, extents_type (of the whole), placement_type, `extents()`
// and `borrowed()` (a non-owning version). On one place, `visit(f)` calls f(view) for each tensor, from left to right,
// and `tree(make)` returns the tree for the evaluation, with make(view) in place of each tensor, called in the same
// order. Over several places, `at(k)` is the operand on place k, and `like()` a tensor with the operand's distribution.

/// A number; its placement_type is void because it is stored in the expression.
template <class T> struct scalar_operand {
  using value_type = T;
  using extents_type = devplace::extents<>;
  using placement_type = void;

  T value;

  constexpr extents_type extents() const { return {}; }
  constexpr scalar_operand borrowed() const { return *this; }
  constexpr scalar_operand at(std::size_t) const { return *this; }
  template <class Visit> constexpr void visit(Visit&) const {}
  template <class Make> constexpr scalar_leaf<T> tree(Make&) const { return {value}; }
};

/// A view; the expression does not own its elements.
template <class T, class Extents, class Where, class Layout = row_major> struct view_operand {
  using value_type = T;
  using extents_type = Extents;
  using placement_type = Where;

  devplace::view<const T, Extents, Where, Layout> window;

  constexpr const Extents& extents() const { return window.extents(); }
  constexpr view_operand borrowed() const { return *this; }
  template <class Visit> constexpr void visit(Visit& visit) const { visit(window); }
  template <class Make> constexpr auto tree(Make& make) const { return make(window); }
};

template <class T, class E, class W, class L>
constexpr view_operand<std::remove_const_t<T>, E, W, L> viewed(const view<T, E, W, L>& x) {
  return {x};
}

/// A reference to a tensor over several places.
template <class T, class Extents, class Where> struct distributed_tensor_operand {
  using value_type = T;
  using extents_type = Extents;
  using placement_type = Where;

  const tensor<T, Extents, Where>* source;

  const Extents& extents() const { return source->extents(); }
  distributed_tensor_operand borrowed() const { return *this; }
  DEVPLACE_CONFIGURED auto at(std::size_t k) const { return viewed(source->only_on(k)); }
  const auto& like() const { return *source; }
};

template <class T, class E, place P> view_operand<T, E, P> referred(const tensor<T, E, P>& x) { return {x.view()}; }
template <class T, class E, class W> distributed_tensor_operand<T, E, W> referred(const tensor<T, E, W>& x) {
  return {&x};
}

/// A tensor that was a temporary or was moved in.
template <class T, class Extents, class Where> struct owned_operand {
  using value_type = T;
  using extents_type = Extents;
  using placement_type = Where;

  tensor<T, Extents, Where> owner;

  const Extents& extents() const { return owner.extents(); }
  auto borrowed() const { return referred(owner); }
  template <class Visit> void visit(Visit& visit) const { borrowed().visit(visit); }
  template <class Make> auto tree(Make& make) const { return borrowed().tree(make); }
  DEVPLACE_CONFIGURED auto at(std::size_t k) const { return borrowed().at(k); }
  const auto& like() const { return owner; }
};

template <class X> inline constexpr bool is_expression_type = false;
template <class Where, class F, class... Operands>
inline constexpr bool is_expression_type<expression<Where, F, Operands...>> = true;
template <class Expression> inline constexpr bool is_expression_type<lazy_expression<Expression>> = true;

template <class Where, class F, class... Operands>
constexpr const expression<Where, F, Operands...>& without_lazy(const expression<Where, F, Operands...>& x) {
  return x;
}
template <class Where, class F, class... Operands>
constexpr expression<Where, F, Operands...> without_lazy(expression<Where, F, Operands...>&& x) {
  return std::move(x);
}

/// Whether a placement is over several places. `Where` may also be a view's placement, or void for an expression of
/// numbers.
template <class Where> inline constexpr bool over_several_places = placement<Where> && !single_place<Where>;

template <class X>
concept number = std::is_arithmetic_v<std::remove_cvref_t<X>> || storage_element<std::remove_cvref_t<X>>;

template <class X> using value_type_of = typename std::remove_cvref_t<X>::value_type;
template <class X> using placement_type_of = typename std::remove_cvref_t<X>::placement_type;

/// Arguments with elements: a tensor, a view, or an expression. `X` is deduced from a forwarding reference, so a const
/// X is a const temporary: an expression cannot take over its memory, and nothing would keep the elements alive.
template <class X>
concept operand_type =
    is_view<std::remove_cvref_t<X>> ||
    ((is_tensor<std::remove_cvref_t<X>> || is_expression_type<std::remove_cvref_t<X>>) && !std::is_const_v<X>);

template <class X>
concept elementwise_operand = operand_type<X> && !over_several_places<placement_type_of<X>>;
template <class X>
concept distributed_operand = operand_type<X> && over_several_places<placement_type_of<X>>;

/// The extents of an argument; a number has the extents of a scalar.
template <class X> struct extents_of_argument : std::type_identity<devplace::extents<>> {};
template <operand_type X>
struct extents_of_argument<X> : std::type_identity<typename std::remove_cvref_t<X>::extents_type> {};
template <class X> using extents_of_t = typename extents_of_argument<X>::type;

template <class A, class B> inline constexpr bool same_values = true;  // a number adopts the other operand's type
template <operand_type A, operand_type B>
inline constexpr bool same_values<A, B> = std::is_same_v<value_type_of<A>, value_type_of<B>>;

template <class A, class B> inline constexpr bool same_placements = true;  // a number has no place
template <elementwise_operand A, elementwise_operand B>
inline constexpr bool same_placements<A, B> = std::is_same_v<placement_type_of<A>, placement_type_of<B>>;

template <class X>
concept operand_or_number = operand_type<X> || number<X>;

/// Arrays, which programs pass to operations by mistake; wrap() makes a view of their elements.
template <class X> inline constexpr bool is_foreign_array = std::is_pointer_v<X> || std::is_array_v<X>;
template <class T, class Allocator> inline constexpr bool is_foreign_array<std::vector<T, Allocator>> = true;
template <class T, std::size_t N> inline constexpr bool is_foreign_array<std::array<T, N>> = true;
template <class T, std::size_t N> inline constexpr bool is_foreign_array<std::span<T, N>> = true;

/// Arguments that operations take or reject with an error message. Other classes may define their own operators.
template <class X>
concept accepted_argument = operand_or_number<X> || is_foreign_array<std::remove_cvref_t<X>>;

/// Arguments of a binary function: at least one operand. detail::binary checks the rest.
template <class A, class B>
concept pair_with_operand = (operand_type<A> && accepted_argument<B>) || (operand_type<B> && accepted_argument<A>);

template <class A, class B> struct pair_value : std::type_identity<value_type_of<A>> {};
template <number A, class B> struct pair_value<A, B> : std::type_identity<value_type_of<B>> {};
/// For two numbers: their common type if it is an element type. Otherwise uint8 for integers of one byte such as bool,
/// int64 for other integers, and double for floating-point numbers.
template <number A, number B> struct pair_value<A, B> {
  using common = std::common_type_t<std::remove_cvref_t<A>, std::remove_cvref_t<B>>;
  using integer = std::conditional_t<sizeof(common) == 1, std::uint8_t, std::int64_t>;
  using beside = std::conditional_t<std::is_integral_v<common>, integer, double>;
  using type = std::conditional_t<is_element<common>, common, beside>;
};
template <class A, class B> using pair_value_t = typename pair_value<A, B>::type;

/// False for a floating-point number in an operation on integer elements, which would drop the number's fraction.
template <class X, class Element>
inline constexpr bool keeps_fraction =
    !number<X> || !std::is_integral_v<Element> || std::is_integral_v<std::remove_cvref_t<X>>;

/// Makes the operand of an argument: moves temporaries in, refers to others, and converts numbers to type T.
template <class T, class X> constexpr auto make_operand(X&& x) {
  using plain = std::remove_cvref_t<X>;
  constexpr bool named = std::is_lvalue_reference_v<X>;
  if constexpr (number<X>)
    return scalar_operand<T>{static_cast<T>(x)};
  else if constexpr (is_view<plain>)
    return viewed(x);
  else if constexpr (is_expression_type<plain> && named)
    return x.borrowed();
  else if constexpr (is_expression_type<plain>)
    return without_lazy(std::move(x));
  else if constexpr (named)
    return referred(x);
  else
    return owned_operand<typename plain::value_type, typename plain::extents_type, typename plain::placement_type>{
        std::move(x)};
}

}  // namespace detail
}  // namespace devplace

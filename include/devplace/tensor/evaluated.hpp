// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>
#include <utility>

#include <devplace/tensor/tensor.hpp>

namespace devplace {

namespace detail {

template <class X> struct evaluated_type : std::type_identity<X> {};
template <class X>
  requires requires { std::remove_cvref_t<X>::is_lazy; }
struct evaluated_type<X> {
  using plain = std::remove_cvref_t<X>;
  using type = tensor<typename plain::value_type, typename plain::extents_type, typename plain::placement_type>;
};
/// The result of evaluated() for an argument of type `X`, which is deduced from a forwarding reference.
template <class X> using evaluated_t = typename evaluated_type<X>::type;

/// The tensor or view in the result of evaluated().
template <class X> using evaluated_value_t = std::remove_cvref_t<evaluated_t<X>>;

/// A tensor, a view, or an expression.
template <class X>
concept evaluable = tensor_like<evaluated_t<X>>;

/// Whether an operation may evaluate its arguments. If an argument is an expression with a name, an assertion fails.
template <class... X> constexpr auto check_unnamed() {
  constexpr bool unnamed = no_named_expressions<X...>;
  static_assert(unnamed, DEVPLACE_DETAIL_NAMED_EXPRESSION);
  return unnamed;
}

}  // namespace detail

/// Returns the elements of an expression as a new tensor, and any tensor or view as it is: named ones by reference,
/// temporaries by value. With this function a template for tensors and views takes expressions too, at the cost of a
/// temporary tensor: `const auto& values = evaluated(x)`. The operations that need stored elements call it.
template <class X> DEVPLACE_CONFIGURED detail::evaluated_t<X> evaluated(X&& x) {
  using type = detail::evaluated_value_t<X>;
  constexpr bool has_elements = !detail::check_operands<type>() || tensor_like<type>;
  static_assert(has_elements,
                "devplace: evaluated: the argument is not a tensor, view or expression; wrap(v, extents(n)) makes a "
                "view of a vector.");
  if constexpr (std::is_same_v<detail::evaluated_t<X>, X>)
    return std::forward<X>(x);
  else
    return type(x.borrowed());
}

}  // namespace devplace

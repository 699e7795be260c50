// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <devplace/ops/detail/distributed.hpp>
#include <devplace/ops/detail/operand.hpp>

namespace devplace {

template <class Where, class F, class... Operands>
class distributed_expression;

namespace detail {

// How an expression of distributed operands holds each of them. All have value_type, extents_type (of the whole),
// placement_type, `extents()`, `borrowed()` (the same without ownership), `at(k)` (the operand of an ordinary
// expression on place k) and `like()` (a tensor with the operand's distribution). Numbers are scalar_operands.

/// A reference to a tensor that the expression does not own.
template <class T, class Extents, class Where>
struct distributed_tensor_operand {
  using value_type = T;
  using extents_type = Extents;
  using placement_type = Where;

  const tensor<T, Extents, Where>* source;

  const Extents& extents() const { return source->extents(); }
  distributed_tensor_operand borrowed() const { return *this; }
  template <configured = configuration>
  auto at(std::size_t k) const {
    return viewed(source->local(k));
  }
  const auto& like() const { return *source; }
};

/// A tensor that was a temporary or was moved in.
template <class T, class Extents, class Where>
struct distributed_owned_operand {
  using value_type = T;
  using extents_type = Extents;
  using placement_type = Where;

  tensor<T, Extents, Where> owner;

  const Extents& extents() const { return owner.extents(); }
  distributed_tensor_operand<T, Extents, Where> borrowed() const { return {&owner}; }
  template <configured = configuration>
  auto at(std::size_t k) const {
    return viewed(owner.local(k));
  }
  const auto& like() const { return owner; }
};

inline namespace DEVPLACE_CONFIGURATION {

template <class Operand>
auto operand_at(const Operand& operand, std::size_t k) {
  return operand.at(k);
}
template <class T>
constexpr scalar_operand<T> operand_at(const scalar_operand<T>& number, std::size_t) {
  return number;
}

}  // namespace DEVPLACE_CONFIGURATION

template <class X>
inline constexpr bool is_distributed_expression_type = false;
template <class Where, class F, class... Operands>
inline constexpr bool is_distributed_expression_type<distributed_expression<Where, F, Operands...>> = true;

/// Distributed elements: a tensor, or an expression of such tensors.
template <class X>
concept distributed_operand = (is_distributed_tensor<std::remove_cvref_t<X>> ||
                               is_distributed_expression_type<std::remove_cvref_t<X>>)&&!is_const_temporary<X>;

/// The other operand: a distributed one, a number, or, to be rejected with an error message, an operand on one place.
template <class X>
concept beside_distributed_operand = distributed_operand<X> || number<X> || elementwise_operand<X>;

/// Two operands, at least one of them distributed.
template <class A, class B>
concept distributed_pair = (distributed_operand<A> && beside_distributed_operand<B>) ||
                           (beside_distributed_operand<A> && distributed_operand<B>);

/// The placement of an operand; void for a number.
template <class X>
struct placement_or_void {
  using type = placement_type_of<X>;
};
template <number X>
struct placement_or_void<X> {
  using type = void;
};
template <class X>
using placement_or_void_t = typename placement_or_void<X>::type;

/// Whether the operands have the same element type; numbers adopt any.
template <class X, class T>
inline constexpr bool has_elements = std::is_same_v<value_type_of<X>, T>;
template <number X, class T>
inline constexpr bool has_elements<X, T> = true;

/// The operand for an argument: temporaries are moved in, others referred to. Numbers become elements of type T.
template <class T, class X>
constexpr auto make_distributed_operand(X&& x) {
  using plain = std::remove_cvref_t<X>;
  if constexpr (number<X>) {
    return make_operand<T>(x);
  } else {
    using value = typename plain::value_type;
    using extents_type = typename plain::extents_type;
    using where = typename plain::placement_type;
    if constexpr (is_distributed_expression_type<plain>) {
      if constexpr (std::is_lvalue_reference_v<X>)
        return x.borrowed();
      else
        return plain(std::move(x));
    } else if constexpr (std::is_lvalue_reference_v<X>) {
      return distributed_tensor_operand<value, extents_type, where>{&x};
    } else {
      return distributed_owned_operand<value, extents_type, where>{std::move(x)};
    }
  }
}

}  // namespace detail
}  // namespace devplace

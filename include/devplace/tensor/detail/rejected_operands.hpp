// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/base/refusal.hpp>

namespace devplace {

namespace detail {

/// Why a class with elements is no operand: the elements are a summand of the value, or are still being copied.
enum class rejection : unsigned char { none, summand, pending };
template <class X> inline constexpr rejection rejection_of = rejection::none;

/// Whether all arguments are operands. Fails to compile with the fix for summands and pending copies.
template <class... X> consteval bool check_operands() {
  constexpr bool whole = ((rejection_of<X> != rejection::summand) && ...);
  constexpr bool arrived = ((rejection_of<X> != rejection::pending) && ...);
  static_assert(whole,
                "devplace: one place's summand is not the value; combine the summands first, with all_reduce(x), "
                "reduce<P>(x) or, for gradients, synchronize(g). x.only_on(k) returns a summand as an ordinary view.");
  static_assert(arrived, "devplace: the copy is pending; get() waits for it and returns the tensor.");
  return whole && arrived;
}

template <class A, class B>
concept rejected_pair = rejection_of<A> != rejection::none || rejection_of<B> != rejection::none;

}  // namespace detail

#define DEVPLACE_DETAIL_REJECTED(name)       \
  template <class A, class B>                \
    requires detail::rejected_pair<A, B>     \
  detail::refusal name(const A&, const B&) { \
    detail::check_operands<A, B>();          \
    return {};                               \
  }                                          \
  static_assert(true)

/// Rejects operators on summands and pending copies; without these overloads, compilers would list every operator.
///@{
DEVPLACE_DETAIL_REJECTED(operator+);
DEVPLACE_DETAIL_REJECTED(operator-);
DEVPLACE_DETAIL_REJECTED(operator*);
DEVPLACE_DETAIL_REJECTED(operator/);
DEVPLACE_DETAIL_REJECTED(operator+=);
DEVPLACE_DETAIL_REJECTED(operator-=);
DEVPLACE_DETAIL_REJECTED(operator*=);
DEVPLACE_DETAIL_REJECTED(operator/=);
///@}
#undef DEVPLACE_DETAIL_REJECTED

}  // namespace devplace

// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/base/refusal.hpp>

#define DEVPLACE_DETAIL_UNDIVIDED                                                                                   \
  "gradients are sums over the samples, and the optimizer divides gradients of a mean by the samples' weights: do " \
  "not divide them again; scale the learning rate, or give weights to the loss."

namespace devplace::runtime {

/// Fails to compile: the optimizer divides the gradient of a mean.
template <class X> devplace::detail::refusal reject_scaling() {
  static_assert(devplace::detail::accepted<X>, "devplace: " DEVPLACE_DETAIL_UNDIVIDED);
  return {};
}

/// Base of gradients; its operators reject scaling. Without these operators, compilers list all operators of the
/// library.
struct undivided {
  template <class X> auto operator*(const X&) const { return reject_scaling<X>(); }
  template <class X> auto operator/(const X&) const { return reject_scaling<X>(); }
  template <class X> auto operator*=(const X&) const { return reject_scaling<X>(); }
  template <class X> auto operator/=(const X&) const { return reject_scaling<X>(); }
};

/// Base of losses. Rejects the conversion to a number, since reading a loss waits for the loss's places and is
/// therefore a named call. Without this conversion compilers list all operators of the library for `sum += loss`. A
/// template, so that only a use of the conversion instantiates the assertion.
template <class Loss = void> struct unread_loss {
  operator double() const {
    static_assert(devplace::detail::accepted<Loss>,
                  "devplace: a loss stays on its places until it is read; call loss.item(), or step.mean_loss() after "
                  "the epoch.");
    return 0;
  }
};

}  // namespace devplace::runtime

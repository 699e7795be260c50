// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/base/refusal.hpp>

namespace devplace::runtime {

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

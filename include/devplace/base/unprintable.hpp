// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <iosfwd>

namespace devplace {
namespace detail {

template <class X> inline constexpr bool not_printed = false;

}  // namespace detail

/// Explains what to print instead; otherwise compilers would list every operator<<.
template <class X>
  requires detail::not_printed<X>
std::ostream& operator<<(std::ostream& out, const X&) {
  static_assert(!detail::not_printed<X>,
                "devplace: a model, trainer, loader or loss cannot be printed; print loss.item(), "
                "step.mean_loss(), model.parameter_count(), or parameters with model.for_each_parameter.");
  return out;
}

}  // namespace devplace

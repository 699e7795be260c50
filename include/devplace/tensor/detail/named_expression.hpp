// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace devplace::detail {

/// Whether an argument is a named expression: an lvalue that lazy() (ops/elementwise.hpp) did not make. `X` is deduced
/// from a forwarding reference.
template <class X> inline constexpr bool is_named_expression = false;
template <class X>
  requires(!X::is_lazy)
inline constexpr bool is_named_expression<X&> = true;
template <class... X> inline constexpr bool no_named_expressions = !(is_named_expression<X> || ...);

}  // namespace devplace::detail

/// The message of an assertion at the start of public functions, so that the compiler shows the user's line.
#define DEVPLACE_DETAIL_NAMED_EXPRESSION                                                                  \
  "devplace: an expression with a name would be computed at each use, from its tensors' current values; " \
  "store its elements, tensor x = ..., or allow this, auto x = lazy(...)."

// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <utility>

#include <devplace/ops/elementwise.hpp>
#include <devplace/tensor/dtype.hpp>

namespace devplace::nn::detail {

/// A view's elements in the type that layers compute with: float for elements of 16 bits.
template <class View> auto computed(const View& x) {
  if constexpr (floating_element<typename View::value_type>)
    return x;
  else
    return lazy(cast<float>(x));
}

/// Writes an expression of computed() elements to a view, rounded if the view's elements have 16 bits.
template <class View, class Expression> void assign_rounded(const View& to, Expression&& expression) {
  if constexpr (floating_element<typename View::value_type>)
    to = std::forward<Expression>(expression);
  else
    to = cast<typename View::value_type>(std::forward<Expression>(expression));
}

/// assign_rounded() of flat() views of one size, each of which is `to` itself or shares no memory with it.
template <class View, class Expression> void assign_flat(const View& to, Expression&& expression) {
  using T = typename View::value_type;
  const auto run = [&](const auto& result) {
    devplace::detail::run_linear<typename View::backend_type>(to.ordinal(), to.data(), to.size(), result);
  };
  if constexpr (floating_element<T>)
    run(devplace::detail::without_lazy(std::as_const(expression)));
  else
    run(cast<T>(std::forward<Expression>(expression)));
}

}  // namespace devplace::nn::detail

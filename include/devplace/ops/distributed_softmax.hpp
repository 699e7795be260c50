// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/ops/detail/distributed.hpp>
#include <devplace/ops/detail/placement_check.hpp>
#include <devplace/ops/softmax.hpp>

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

/// Applies `Row` to the rows of every place's local tensor.
template <template <class> class Row, class T, class E, class Where>
auto rows_on_places(const char* operation, const tensor<T, E, Where>& x) {
  static_assert(E::rank > 0, "devplace: this operation works along an axis; a scalar has none.");
  using rule = row_function_result<E::rank - 1, Where>;
  if constexpr (common_result<rule>::value && E::rank > 0) {
    auto y = make_like<T, Where>(x.extents(), x);
    for (std::size_t k = 0; k != x.places; ++k)
      for_rows_of<Row>(operation, y.local(k), x.local(k));
    return y;
  }
}

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// softmax(x) along the last axis of a replicated tensor, or of one that is split along another axis, as a new tensor
/// that is distributed like x. Asynchronous, in the order of each place's current stream. See softmax_into.
template <detail::distributed_tensor X>
auto softmax(const X& x) {
  return detail::rows_on_places<detail::softmax_row>("softmax", x);
}

/// log(softmax(x)), otherwise as softmax.
template <detail::distributed_tensor X>
auto log_softmax(const X& x) {
  return detail::rows_on_places<detail::log_softmax_row>("log_softmax", x);
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION

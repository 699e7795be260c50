// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>
#include <utility>

#include <devplace/base/host_memory.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/runtime/model_state.hpp>

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Copies a model to another placement (one place or replicas), with bitwise equal parameters, buffers, seed and step
/// count: `to<on<cpu>>(model)`, `to<replicated<0, 1>>(model)`. Copies the first replica, so that
/// `to<Where>(to<on<cpu>>(model))` makes all replicas equal to the first. Does not copy gradients or the state of
/// optimizers and trainers, which belong to the source model. Complete when the call returns. `to<Where, float>(model)`
/// copies in precision float from any precision: parameters and buffers of another type are rounded to nearest, ties to
/// even; values too large for float become infinite.
template <placement Where, class To = void, class Net, placement From, precision P>
[[nodiscard]] auto to(const model<Net, From, P>& source) {
  using result = model<Net, Where, std::conditional_t<std::is_void_v<To>, P, To>>;
  constexpr bool has_copies = detail::kind_of<Where>::is_whole;
  static_assert(has_copies,
                "devplace: to: a model's placement is on<P> or replicated<...>; batches are sharded, not models.");
  if constexpr (!std::is_void_v<To> && std::is_same_v<From, shared_memory>) {
    return to<Where, To>(to<cpu>(source));
  } else if constexpr (has_copies) {
    using storage = typename precision_traits<typename result::precision_type>::storage;
    return detail::naming_bad_alloc("the copy of a model", [&] {
      return detail::model_access::adopt<result>(nn::detail::in_memory_of<Where>(
          runtime::copied_state<storage, placement_backend_t<Where>, placement_backend_t<From>>(
              detail::mesh_of<Where>::ordinals, source.state())));
    });
  }
}

/// Converts a temporary model; moves it if it is on `Where` already.
template <placement Where, class Net, placement From, precision P> [[nodiscard]] auto to(model<Net, From, P>&& source) {
  if constexpr (std::is_same_v<From, Where>)
    return model<Net, Where, P>(std::move(source));
  else
    return to<Where>(std::as_const(source));
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION

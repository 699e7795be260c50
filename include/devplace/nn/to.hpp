// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>
#include <utility>

#include <devplace/nn/model.hpp>
#include <devplace/place/detail/host_memory.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/runtime/state.hpp>

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// A model with bitwise the same parameters, buffers, seed and step count on another placement (of one place or
/// copies): `to<on<cpu>>(model)`, `to<replicated<0, 1>>(model)`. A replicated source gives the first place's copy, so
/// `to<Where>(to<on<cpu>>(model))` makes all replicas equal to the first. Gradients, and the state of optimizers and
/// trainers, which belong to the source model, are not copied. Complete when the call returns.
template <placement Where, class Net, placement From, precision P>
[[nodiscard]] auto to(const model<Net, From, P>& source) {
  constexpr bool has_copies = std::is_same_v<typename placement_traits<Where>::kind, copies>;
  static_assert(has_copies,
                "devplace: to: a model's placement is on<P> or replicated<...>; batches are sharded, not models.");
  if constexpr (has_copies) {
    using mesh = detail::mesh_of<Where>;
    return detail::naming_bad_alloc("the copy of a model", [&] {
      return nn::detail::model_access::adopt<model<Net, Where, P>>(
          nn::detail::housed<Where>(runtime::copied_state<placement_backend_t<Where>, placement_backend_t<From>>(
              mesh::ordinals, source.state())));
    });
  }
}

/// The same from a temporary, which is moved if it is on `Where` already.
template <placement Where, class Net, placement From, precision P>
[[nodiscard]] auto to(model<Net, From, P>&& source) {
  if constexpr (std::is_same_v<From, Where>)
    return model<Net, Where, P>(std::move(source));
  else
    return to<Where>(std::as_const(source));
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION

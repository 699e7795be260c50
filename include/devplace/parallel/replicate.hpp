// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <tuple>

#include <devplace/nn/model.hpp>
#include <devplace/nn/to.hpp>
#include <devplace/place/placement.hpp>

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Copies a model to each place of `Where`, as torch.nn.parallel.replicate: `auto [a, b] = replicate<replicated<0,
/// 1>>(model)` gives a `model<Net, on<cuda<0>>>` and one on `cuda<1>`, with equal parameters, buffers, seed and step
/// count. The copies are independent; a single model that trains on several places is `to<replicated<0, 1>>(model)`.
/// Complete when the call returns.
template <class Where = void, class Net, placement From, precision P>
auto replicate(const model<Net, From, P>& source) {
  constexpr bool has_copies = detail::kind_in_process<Where>::is_copies || single_place<Where>;
  static_assert(
      has_copies,
      "devplace: replicate: the copies' places are given as replicated<...>; batches are sharded, not models.");
  if constexpr (has_copies)
    return [&]<class... Place>(devices<Place...>) {
      return std::tuple{to<on<Place>>(source)...};
    }(typename detail::mesh_of<Where>::local{});
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION

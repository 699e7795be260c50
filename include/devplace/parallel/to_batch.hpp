// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>
#include <utility>

#include <devplace/config.hpp>
#include <devplace/ops/detail/part_copy.hpp>
#include <devplace/parallel/gather.hpp>
#include <devplace/parallel/scatter.hpp>
#include <devplace/place/place.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/process/process_group.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/distributed.hpp>
#include <devplace/tensor/tensor.hpp>

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Copies a batch to the placement that a model on `Where` takes, for generic code: `to<Where>(x)` for one place,
/// `scatter<batch_placement_t<Where>>(x, split::even)` for several. Across processes, each process passes the whole
/// source and copies the part of its own participants in this thread's process_scope. Complete when the call returns.
/// The source is on any one place.
template <placement Where, tensor_like From> auto to_batch(From&& source) {
  if constexpr (single_place<Where>) {
    return to<Where>(std::forward<From>(source));
  } else if constexpr (spans_processes<Where>) {
    using source_type = std::remove_cvref_t<From>;
    tensor<typename source_type::value_type, typename source_type::extents_type, batch_placement_t<Where>> result(
        source.extents(), split::even, parallel::current_participants<Where>("to_batch"));
    detail::copy_to_parts(result, detail::as_view(source));
    return result;
  } else {
    return scatter<batch_placement_t<Where>>(source);
  }
}

/// Copies a whole tensor to the CPU, for generic code: `to<cpu>(x)` for one place, `gather<cpu>(x)` for a split tensor,
/// and the first place's copy for a replicated tensor. Complete when the call returns. For summands use reduce<cpu>(x)
/// or synchronize.
template <tensor_like From> auto to_host(From&& source) {
  using kind = detail::kind_in_process<typename std::remove_cvref_t<From>::placement_type>;
  static_assert(!kind::is_summands,
                "devplace: to_host: the places have summands, not the value; combine them with reduce<cpu>(x), or with "
                "all_reduce(x) on every place.");
  if constexpr (!kind::is_distributed)
    return to<cpu>(std::forward<From>(source));
  else if constexpr (kind::is_split)
    return gather<cpu>(source);
  else if constexpr (kind::is_whole)
    return to<cpu>(source.local(0));
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION

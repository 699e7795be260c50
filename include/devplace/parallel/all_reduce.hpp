// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <span>
#include <type_traits>
#include <utility>

#include <devplace/base/refusal.hpp>
#include <devplace/config.hpp>
#include <devplace/parallel/detail/summands.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/tensor.hpp>

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// partial -> replicated: combines the summands by the operation in the type (sum, mean, max, min), in the order of the
/// places, and gives every place the result: `all_reduce(std::move(x))`. Reduces a temporary in place, other arguments
/// into a new tensor. A NaN in any summand gives NaN, also for max and min. Asynchronous, in the order of each place's
/// current stream. A tensor on one place, or a replicated one, has no summands and does not compile: reduction would
/// multiply its values.
template <tensor_like From> auto all_reduce(From&& source) {
  using from_type = std::remove_cvref_t<From>;
  using kind = detail::kind_in_process<typename from_type::placement_type>;
  constexpr bool over_several = kind::is_distributed, not_copies = !kind::is_copies, not_parts = !kind::is_split;
  static_assert(over_several,
                "devplace: all_reduce: the value is whole, on one place; there is nothing to combine. "
                "broadcast<replicated<0, 1>>(x) copies it to several.");
  static_assert(not_copies,
                "devplace: all_reduce: every place has the whole value already, and adding the copies up would "
                "multiply it by the number of places; use x itself.");
  static_assert(not_parts,
                "devplace: all_reduce: the places have parts, not summands; all_gather(x) puts them together on every "
                "place.");
  if constexpr (kind::is_summands) {
    using where = typename from_type::placement_type;
    if constexpr (parallel::detail::check_elements<from_type>()) {
      auto x = parallel::detail::owned_summands(std::forward<From>(source));
      const auto buffers = parallel::detail::buffers_of(x);
      parallel::direct<typename from_type::backend_type>(detail::mesh_of<where>::ordinals)
          .all_reduce(std::span<typename from_type::value_type* const>(buffers), x.size(), detail::kind_of<where>::op);
      return detail::distributed_access::as<detail::with_kind_t<where, copies>>(std::move(x));
    }
  } else {
    return detail::refusal{};
  }
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION

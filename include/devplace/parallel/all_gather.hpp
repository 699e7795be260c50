// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/base/refusal.hpp>
#include <devplace/config.hpp>
#include <devplace/ops/detail/part_copy.hpp>
#include <devplace/tensor/distributed.hpp>
#include <devplace/tensor/tensor.hpp>

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// sharded -> replicated: concatenates the parts of a split tensor on each of its places: `all_gather(x)`.
template <tensor_like From> auto all_gather(const From& source) {
  using kind = detail::kind_in_process<typename From::placement_type>;
  constexpr bool over_several = kind::is_distributed, not_copies = !kind::is_copies, not_summands = !kind::is_summands;
  static_assert(over_several,
                "devplace: all_gather: the value is whole, on one place; broadcast<replicated<0, 1>>(x) copies it to "
                "several.");
  static_assert(not_copies, "devplace: all_gather: every place has the whole value already; use x itself.");
  static_assert(not_summands,
                "devplace: all_gather: the places have summands, not parts; all_reduce(x) combines them on every "
                "place.");
  if constexpr (kind::is_split) {
    using to = detail::with_kind_t<typename From::placement_type, copies>;
    tensor<typename From::value_type, typename From::extents_type, to> result(source.extents());
    for (std::size_t k = 0; k < local_place_count<to>; ++k) detail::copy_from_parts(result.only_on(k), source);
    return result;
  } else {
    return detail::refusal{};
  }
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION

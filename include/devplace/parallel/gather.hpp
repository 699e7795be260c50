// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <devplace/base/refusal.hpp>
#include <devplace/config.hpp>
#include <devplace/ops/detail/part_copy.hpp>
#include <devplace/tensor/distributed.hpp>
#include <devplace/tensor/tensor.hpp>

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// sharded -> on: concatenates the parts of a split tensor on any one place: `gather<on<cpu>>(x)`. Complete when
/// the call returns.
template <class To = void, tensor_like From> auto gather(const From& source) {
  constexpr bool to_one = single_place<To>;
  using kind = detail::kind_in_process<typename From::placement_type>;
  constexpr bool over_several = kind::is_distributed, not_copies = !kind::is_copies, not_summands = !kind::is_summands;
  static_assert(to_one,
                "devplace: gather: the result lies on one place, as in gather<on<cpu>>(x); all_gather(x) gives every "
                "place the whole value.");
  static_assert(over_several, "devplace: gather: the value is on one place already; to<on<P>>(x) moves it to another.");
  static_assert(not_copies,
                "devplace: gather: every place has the whole value already; take one copy with "
                "to<on<P>>(x.local(cuda<0>{})).");
  static_assert(not_summands,
                "devplace: gather: the places have summands, not parts; reduce<on<P>>(x) combines them on one place.");
  if constexpr (to_one && kind::is_split) {
    tensor<typename From::value_type, typename From::extents_type, To> result(source.extents());
    detail::copy_from_parts(result.view(), source);
    return result;
  } else {
    return detail::refusal{};
  }
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION

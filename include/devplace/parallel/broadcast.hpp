// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/base/refusal.hpp>
#include <devplace/config.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/distributed.hpp>
#include <devplace/tensor/tensor.hpp>

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// on -> replicated: copies a whole tensor or view to every place of `To`: `broadcast<replicated<0, 1>>(x)`. Complete
/// when the call returns. The source may be on any place.
template <class To = void, tensor_like From> auto broadcast(const From& source) {
  constexpr bool to_copies = detail::kind_in_process<To>::is_copies;
  constexpr bool from_one = detail::is_on_one_place<From>;
  static_assert(to_copies,
                "devplace: broadcast: the result must be replicated, as in broadcast<replicated<0, 1>>(x); for parts "
                "use scatter<sharded<axis<0>, 0, 1>>(x), for one copy use to<on<P>>(x).");
  static_assert(from_one,
                "devplace: broadcast: the value lies over several places already; broadcast one place's copy, "
                "x.local(cuda<0>{}), or use all_gather (of parts) or all_reduce (of summands).");
  if constexpr (to_copies && from_one) {
    tensor<typename From::value_type, typename From::extents_type, To> result(source.extents());
    for (std::size_t k = 0; k < local_place_count<To>; ++k) copy(result.only_on(k), detail::as_view(source).erased());
    return result;
  } else {
    return detail::refusal{};
  }
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION

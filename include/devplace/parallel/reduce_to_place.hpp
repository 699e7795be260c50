// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include <devplace/base/refusal.hpp>
#include <devplace/config.hpp>
#include <devplace/parallel/detail/summands.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/distributed.hpp>
#include <devplace/tensor/tensor.hpp>

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// partial -> on: combines the summands by the operation in the type, in the order of the places, on one place:
/// `reduce<on<cuda<0>>>(std::move(x))`. Asynchronous if `To` is one of the tensor's places; otherwise combines the
/// summands on the first place, waits and copies the result. Reduces a temporary in place, other arguments through
/// copies. NaN propagates, as in all_reduce. To reduce along axes use `sum` and the like (ops/reduce.hpp).
template <class To = void, tensor_like From> auto reduce(From&& source) {
  using from_type = std::remove_cvref_t<From>;
  constexpr bool to_one = single_place<To>;
  using kind = detail::kind_in_process<typename from_type::placement_type>;
  constexpr bool over_several = kind::is_distributed, not_copies = !kind::is_copies, not_parts = !kind::is_split;
  static_assert(to_one,
                "devplace: reduce: the result lies on one place, as in reduce<on<cuda<0>>>(x); all_reduce(x) gives it "
                "to every place, reduce_scatter<sharded<axis<0>, 0, 1>>(x) splits it.");
  static_assert(over_several,
                "devplace: reduce: the value is whole, on one place; to<on<P>>(x) moves it, sum(x) adds its elements.");
  static_assert(not_copies,
                "devplace: reduce: every place has the whole value already, and adding the copies up would multiply "
                "it; take one copy with to<on<P>>(x.local(cuda<0>{})).");
  static_assert(not_parts,
                "devplace: reduce: the places have parts, not summands; gather<on<P>>(x) puts them together.");
  if constexpr (to_one && kind::is_summands) {
    using where = typename from_type::placement_type;
    if constexpr (parallel::detail::check_elements<from_type>()) {
      constexpr std::size_t position = detail::position_in<primary_place_t<To>, typename detail::mesh_of<where>::local>;
      constexpr bool is_among_places = position < from_type::places;
      constexpr std::size_t root = is_among_places ? position : 0;
      auto x = parallel::detail::owned_summands(std::forward<From>(source));
      const auto buffers = parallel::detail::buffers_of(x);
      parallel::direct<typename from_type::backend_type>(detail::mesh_of<where>::ordinals)
          .reduce(std::span<typename from_type::value_type* const>(buffers), x.size(), detail::kind_of<where>::op,
                  static_cast<int>(root));
      if constexpr (is_among_places) {
        return detail::distributed_access::take<To>(std::move(x), root);
      } else {
        tensor<typename from_type::value_type, typename from_type::extents_type, To> result(x.extents());
        copy(result, x.only_on(root));
        return result;
      }
    }
  } else {
    return detail::refusal{};
  }
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION

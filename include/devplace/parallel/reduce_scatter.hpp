// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <devplace/base/host_memory.hpp>
#include <devplace/base/refusal.hpp>
#include <devplace/config.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/ops/detail/reduced_axes.hpp>
#include <devplace/parallel/detail/summands.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/distributed.hpp>
#include <devplace/tensor/split.hpp>
#include <devplace/tensor/tensor.hpp>

namespace devplace::parallel::detail {

/// Combines the summands and stores each place's part of the result; instantiated per backend and element type.
/// `begins` divides the axis with `extents.count` elements. `buffers` are the summands if they may be overwritten,
/// otherwise null.
template <class Backend, class T>
void reduce_to_parts(std::span<const int> ordinals, std::span<const T* const> summands, std::span<T*> buffers,
                     std::span<T* const> parts, const devplace::detail::reduction_extents& extents,
                     std::span<const std::size_t> begins, reduction op) {
  namespace d = devplace::detail;
  const std::size_t places = ordinals.size();
  const std::size_t per_index = extents.outer * extents.inner;
  using where = here<Backend>;
  std::vector<std::size_t> first(begins.begin(), begins.end());
  for (std::size_t& position : first) position *= per_index;
  std::vector<d::memory_block> packed(places);
  // The communicator overwrites the summands and needs contiguous parts.
  if (buffers[0] == nullptr || extents.outer > 1)
    for (std::size_t k = 0; k < places; ++k) {
      packed[k] = d::allocate<Backend>(ordinals[k], first.back() * sizeof(T), memory_purpose::workspace);
      buffers[k] = static_cast<T*>(packed[k].data());
      const d::device_of<where> device{ordinals[k]};
      const view<const T, dextents<3>, where> whole(summands[k],
                                                    dextents<3>(extents.outer, extents.count, extents.inner), device);
      for (std::size_t part = 0; part < places; ++part) {
        const auto from = whole.slice(axis<1>{}, begins[part], begins[part + 1]);
        copy(view<T, dextents<3>, where>(buffers[k] + first[part], from.extents(), device), from);
      }
    }
  direct<Backend>(ordinals).template reduce_scatter<T>(buffers, {first.data(), first.size()}, op);
  for (std::size_t k = 0; k < places; ++k)
    d::copy_within<Backend>(ordinals[k], parts[k], buffers[k] + first[k], (first[k + 1] - first[k]) * sizeof(T));
}

}  // namespace devplace::parallel::detail

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// partial -> sharded: combines the summands by the operation in the type, in the order of the places, and splits the
/// result along the axis of `To` by `rule`: `reduce_scatter<sharded<axis<0>, 0, 1>>(std::move(x))`. `To` has
/// the places of the summands in the same order. A temporary is combined in place if `To` splits the first axis;
/// otherwise each place temporarily needs memory for another summand. NaN propagates, as in all_reduce. Asynchronous,
/// in the order of each place's current stream. Throws argument_error if given sizes do not add up to the extent.
template <class To = void, tensor_like From, split_rule Split = split::rule>
auto reduce_scatter(From&& source, const Split& rule = split::even) {
  using from_type = std::remove_cvref_t<From>;
  constexpr bool to_parts = detail::kind_in_process<To>::is_split;
  using kind = detail::kind_in_process<typename from_type::placement_type>;
  constexpr bool over_several = kind::is_distributed, not_copies = !kind::is_copies, not_parts = !kind::is_split;
  static_assert(to_parts,
                "devplace: reduce_scatter: the result is sharded, as in reduce_scatter<sharded<axis<0>, 0, 1>>(x); "
                "all_reduce(x) gives every place the whole value.");
  static_assert(
      over_several,
      "devplace: reduce_scatter: the value is whole, on one place; scatter<sharded<axis<0>, 0, 1>>(x) splits it.");
  static_assert(not_copies,
                "devplace: reduce_scatter: every place has the whole value already, and adding the copies up would "
                "multiply it; scatter<To>(x.local(cuda<0>{})) splits one copy.");
  static_assert(not_parts, "devplace: reduce_scatter: the value is split already; use x itself.");
  if constexpr (to_parts && kind::is_summands) {
    using where = typename from_type::placement_type;
    constexpr bool one_mesh =
        std::is_same_v<typename placement_traits<To>::mesh, typename placement_traits<where>::mesh>;
    static_assert(one_mesh,
                  "devplace: reduce_scatter: the result's places are not the summands' places in the same order; name "
                  "the summands' places, or reduce<on<P>>(x) and scatter to others.");
    if constexpr (one_mesh && parallel::detail::check_elements<from_type>()) {
      using value_type = typename from_type::value_type;
      tensor<value_type, typename from_type::extents_type, To> result(source.extents(), rule);
      std::array<std::size_t, from_type::places + 1> begins{};
      for (std::size_t k = 0; k < begins.size(); ++k) begins[k] = result.part_begin(k);
      std::array<value_type*, from_type::places> writable{};
      if constexpr (!std::is_lvalue_reference_v<From> && !std::is_const_v<From>)
        writable = parallel::detail::buffers_of(source);
      detail::naming_bad_alloc("reduce_scatter", [&] {
        parallel::detail::reduce_to_parts<typename from_type::backend_type, value_type>(
            detail::mesh_of<where>::ordinals, parallel::detail::buffers_of(std::as_const(source)), writable,
            parallel::detail::buffers_of(result),
            detail::reduction_extents_of(detail::sizes_of(source.extents()),
                                         detail::reduced_axes<from_type::rank>(axis<detail::kind_of<To>::axis>{})),
            begins, detail::kind_of<where>::op);
      });
      return result;
    }
  } else {
    return detail::refusal{};
  }
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION

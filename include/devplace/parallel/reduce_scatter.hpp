// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <type_traits>

#include <devplace/config.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/parallel/detail/summands.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/detail/part_copy.hpp>
#include <devplace/tensor/placed.hpp>
#include <devplace/tensor/split.hpp>
#include <devplace/tensor/tensor.hpp>

namespace devplace {

namespace parallel::detail {

/// Every place's summand with the parts one behind the other, whatever axis they split, and where each begins.
template <class Tu, class Where, class From>
struct summands_by_parts {
  using value_type = typename From::value_type;
  using backend_type = typename From::backend_type;
  static constexpr std::size_t places = From::places;

  std::array<devplace::detail::memory_block, places> blocks;
  std::array<value_type*, places> buffers{};
  std::array<std::size_t, places + 1> begins{};

  template <class Result>
  summands_by_parts(const From& source, const Result& like) {
    namespace d = devplace::detail;
    const d::axis_geometry geometry =
        d::along<d::axis_of<typename placement_traits<Where>::kind>, value_type>(source.extents());
    for (std::size_t part = 0; part <= places; ++part)
      begins[part] = like.part_begin(part) * geometry.rows * geometry.index_bytes / sizeof(value_type);
    for (std::size_t k = 0; k < places; ++k) {
      const auto from = source.local(k);
      blocks[k] =
          d::allocate<backend_type, Tu>(from.ordinal(), from.size() * sizeof(value_type), memory_purpose::workspace);
      buffers[k] = static_cast<value_type*>(blocks[k].data());
      for (std::size_t part = 0; part < places; ++part)
        d::copy_to_part<backend_type, backend_type, Tu>(from.ordinal(), buffers[k] + begins[part], from.ordinal(),
                                                        from.data(), geometry, like.part_begin(part),
                                                        like.part_begin(part + 1));
    }
  }
};

}  // namespace parallel::detail

/// partial -> sharded: combines the places' summands by the operation in the type, in the order of the places, and
/// leaves each place its part of the result, split along the axis of `To` as `how` says:
/// `reduce_scatter<sharded<0, 0, 1>>(x)`. `To` has the summands' places, in their order. Each place needs memory for
/// one more summand meanwhile. NaN wins, as in all_reduce. Asynchronous, in the order of each place's work. Throws
/// argument_error when given sizes do not add up to the extent.
template <class To, class Tu = detail::this_tu, tensor_like From, split_rule Split = split::rule>
auto reduce_scatter(const From& source, const Split& how = split::even) {
  using detail::lie;
  constexpr bool to_parts = detail::lie_of<To> == lie::parts;
  constexpr lie from = detail::lie_of_tensor<From>;
  static_assert(
      to_parts,
      "devplace: reduce_scatter: the result is sharded, as in reduce_scatter<sharded<0, 0, 1>>(x); all_reduce(x) "
      "gives every place the whole.");
  static_assert(from != lie::one_place,
                "devplace: reduce_scatter: the value is whole, on one place; scatter<sharded<0, 0, 1>>(x) splits it.");
  static_assert(from != lie::copies,
                "devplace: reduce_scatter: every place has the whole value already, and adding the copies up would "
                "multiply it; scatter<To>(x.local(cuda<0>{})) splits one of them.");
  static_assert(from != lie::parts, "devplace: reduce_scatter: the value is split already; use x itself.");
  if constexpr (to_parts && from == lie::summands) {
    using where = typename From::placement_type;
    constexpr bool one_mesh =
        std::is_same_v<typename placement_traits<To>::mesh, typename placement_traits<where>::mesh>;
    static_assert(one_mesh,
                  "devplace: reduce_scatter: the result's places are not the summands' places in their order; name the "
                  "same ones, or reduce<on<P>>(x) and scatter to others.");
    if constexpr (one_mesh && parallel::detail::check_elements<From>()) {
      using value_type = typename From::value_type;
      tensor<value_type, typename From::extents_type, To> result(source.extents(), how, Tu{});
      const parallel::detail::summands_by_parts<Tu, To, From> packed(source, result);
      parallel::detail::between_places<Tu, where>().template reduce_scatter<Tu>(
          std::span<value_type* const>(packed.buffers), std::span<const std::size_t>(packed.begins),
          parallel::detail::operation_of<where>);
      for (std::size_t k = 0; k < From::places; ++k) {
        const auto part = result.local(k);
        detail::copy_within<typename From::backend_type, Tu>(
            part.ordinal(), part.data(), packed.buffers[k] + packed.begins[k], part.size() * sizeof(value_type));
      }
      return result;
    }
  }
}

}  // namespace devplace

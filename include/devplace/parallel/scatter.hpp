// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>

#include <devplace/base/refusal.hpp>
#include <devplace/config.hpp>
#include <devplace/ops/detail/part_copy.hpp>
#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/distributed.hpp>
#include <devplace/tensor/split.hpp>
#include <devplace/tensor/tensor.hpp>

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// on -> sharded: splits a tensor or view along the axis of `To` over its places, by `rule` (`split::even`,
/// `split::torch`, `split::sizes{3, 3, 1}`): `scatter<sharded<axis<0>, 0, 1>>(x)`. Complete when the call returns. The
/// source may be on any place. Throws argument_error if given sizes do not add up to the extent.
template <class To = void, tensor_like From, class Split = split::rule>
auto scatter(const From& source, const Split& rule = split::even) {
  constexpr bool to_parts = detail::kind_in_process<To>::is_split;
  constexpr bool from_one = detail::is_on_one_place<From>;
  static_assert(to_parts,
                "devplace: scatter: the result must be sharded, as in scatter<sharded<axis<0>, 0, 1>>(x); for a copy "
                "on every place use broadcast<replicated<0, 1>>(x).");
  static_assert(from_one,
                "devplace: scatter: the value lies over several places already; scatter one place's copy, "
                "x.local(cuda<0>{}), or bring the value to one place first (gather, reduce).");
  constexpr bool is_rule = split_rule<Split>;
  static_assert(is_rule,
                "devplace: scatter: the second argument is a rule: split::even, split::torch or split::sizes{3, 7}; "
                "the number of parts is the number of places in the type.");
  constexpr bool has_axis = !to_parts || detail::kind_of<To>::axis < std::remove_cvref_t<From>::rank;
  static_assert(has_axis, "devplace: scatter: the tensor does not have the axis that is split; axes count from 0.");
  constexpr bool all_given = !to_parts || !detail::is_split_sizes<Split> ||
                             requires { requires std::is_same_v<Split, split::sizes<local_place_count<To>>>; };
  static_assert(all_given,
                "devplace: scatter: split::sizes must have one size for each place of the placement; a place with size "
                "0 gets no elements.");
  if constexpr (to_parts && from_one && is_rule && has_axis && all_given) {
    tensor<typename From::value_type, typename From::extents_type, To> result(source.extents(), rule);
    detail::copy_to_parts(result, detail::as_view(source));
    return result;
  } else {
    return detail::refusal{};
  }
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION

// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <devplace/base/seed.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/ops/detail/distributed.hpp>
#include <devplace/ops/detail/operands.hpp>
#include <devplace/ops/detail/random_order.hpp>
#include <devplace/place/backend.hpp>
#include <devplace/tensor/tensor.hpp>

namespace devplace::op {

/// `run(ordinal, plan)`, a detail::permutation_plan.
struct permutation {};

}  // namespace devplace::op

namespace devplace::detail {

/// Computes the order of 0 to size-1 by their random keys.
struct permutation_plan {
  std::int64_t* order;
  std::size_t size;
  random_sequence random;
  std::uint64_t* workspace;  ///< 2 size + 1 words, enough for every backend: keys, and equally many words for the sort
};

}  // namespace devplace::detail

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Writes a random permutation of 0 to n-1, where n is the size of `order`, a rank-1 tensor or view of int64. The place
/// of `order` computes the permutation, in the order of the place's current stream, with the same result on every
/// place. For stream 0 the result equals permutation(n, seed). For `sampler::stream(epoch)` the result is the order of
/// a sampler's epoch. Scratch memory is allocated on the place and counted as workspace.
template <tensor_like Order> void permutation_into(Order&& order, seed start, std::uint64_t stream = 0) {
  constexpr bool on_one_place = detail::none_distributed<Order>;
  static_assert(on_one_place,
                "devplace: permutation: the numbers are drawn on one place; draw them there and broadcast or scatter "
                "the result.");
  if constexpr (on_one_place) {
    constexpr bool written = detail::writable<Order>,
                   of_int64 = std::is_same_v<detail::operand_element_t<Order>, std::int64_t>,
                   one_axis = detail::operand_extents_t<Order>::rank == 1;
    static_assert(written, "devplace: permutation: the elements are const; pass a tensor or view to write to.");
    static_assert(of_int64, "devplace: permutation: the numbers are int64; pass a tensor of int64.");
    static_assert(one_axis,
                  "devplace: permutation: the numbers have one axis; pass a tensor of rank 1, or a reshaped view.");
    if constexpr (written && of_int64 && one_axis) {
      using backend_type = detail::operand_backend_t<Order>;
      const auto to = detail::as_view(order);
      if (to.size() == 0) return;
      const detail::memory_block workspace = detail::allocate<backend_type>(
          to.ordinal(), (2 * to.size() + 1) * sizeof(std::uint64_t), memory_purpose::workspace);
      detail::dispatch<op::permutation, backend_type>(
          to.ordinal(),
          detail::permutation_plan{
              detail::raw_data(to), to.size(), {start.value, stream}, static_cast<std::uint64_t*>(workspace.data())});
    }
  }
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION

#include <devplace/backend/cpu/permutation.hpp>
#include DEVPLACE_BACKENDS(permutation)

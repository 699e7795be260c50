// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>

#include <devplace/base/refusal.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/tensor/split.hpp>

// The division of a tensor over several places (tensor/distributed.hpp), and its memory.
namespace devplace::detail {

/// The current division of a tensor's axis among its places, and the rule that divides later extents.
template <std::size_t Places> struct division {
  part_begins<Places> begins{};
  split::rule rule = split::even;
  devplace::participants participants = {0, Places};

  constexpr void set(std::size_t size) { begins = divide<Places>(size, rule, participants); }
};
struct undivided {};

// Instantiated once per backend, whatever the element types, extents and places.
template <class Backend>
void allocate_parts(std::span<memory_block> blocks, std::span<const int> ordinals, std::span<const std::size_t> bytes) {
  for (std::size_t k = 0; k < blocks.size(); ++k) blocks[k] = allocate<Backend>(ordinals[k], bytes[k]);
}
template <class Backend>
void copy_parts(std::span<const memory_block> to, std::span<const memory_block> from, std::span<const int> ordinals,
                std::span<const std::size_t> bytes) {
  for (std::size_t k = 0; k < to.size(); ++k) copy_within<Backend>(ordinals[k], to[k].data(), from[k].data(), bytes[k]);
}

/// Fails to compile, because lists, values and other tensors do not make a tensor over several places.
template <class... Value> constexpr void reject_elements() {
  constexpr bool makes_tensor = accepted<Value...>;
  static_assert(makes_tensor,
                "devplace: a tensor over several places is made of its extents, and a split rule if an axis is split, "
                "or of an expression; scatter and broadcast distribute elements of the host, and full<T, "
                "Where>(extents, value) makes elements of one value.");
}

/// Whether a value can be assigned to every element of a tensor on `Where`.
template <class Value, class Where> constexpr auto check_assigned_number() {
  constexpr bool is_number = std::is_arithmetic_v<Value>,
                 sets_value = !is_number || keeps_equal_summands<kind_of<Where>>;
  static_assert(is_number,
                "devplace: a tensor over several places is assigned an expression, a number, or a tensor of the same "
                "type by std::move; scatter and broadcast bring elements from one place.");
  static_assert(sets_value,
                "devplace: a number cannot set the value of a partial tensor, the reduction of its summands; assign to "
                "one summand, x.only_on(k), or make a replicated tensor.");
  return is_number && sets_value;
}

}  // namespace devplace::detail

// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <type_traits>

#include <devplace/ops/detail/broadcast_shapes.hpp>
#include <devplace/ops/detail/distributed.hpp>

// Over several places, only local tensors broadcast. A split operand has the split axis of the result in full extent.
// Any other operand lacks this axis or has extent 1 along it.
namespace devplace::detail {

template <class Result, class Extents, class Operand> constexpr void check_split_axis() {
  using operand_extents = typename Operand::extents_type;
  constexpr std::size_t axis = kind_of<Result>::axis;
  if constexpr (std::is_same_v<typename Operand::placement_type, Result>) {
    static_assert(operand_extents::rank == Extents::rank,
                  "devplace: elementwise: a split operand has fewer axes than another, so its split axis would not be "
                  "the result's; all_gather(x) it first, or give it as many axes.");
  } else if constexpr (operand_extents::rank + axis >= Extents::rank) {
    constexpr std::size_t extent = aligned_static_extent<operand_extents>(axis, Extents::rank);
    static_assert(extent == 1 || extent == dyn,
                  "devplace: elementwise: a whole operand has the axis along which another is split, and each place "
                  "would use only a part of it; scatter<sharded<axis<0>, ...>>(x) it first.");
  }
}

[[noreturn]] inline void throw_repeated_parts(const char* operation, const shape& from, const shape& to) {
  throw shape_error({operation, ": a split operand of ", to_string(from), " cannot be broadcast to ", to_string(to),
                     ": its split axis would be repeated across places; gather it first."});
}
[[noreturn]] inline void throw_whole_beside_parts(const shape& operand, const shape& result) {
  throw shape_error({"elementwise: a whole operand of ", to_string(operand), " has the split axis of ",
                     to_string(result), ", and each place takes a part; scatter it first."});
}

/// Throws unless each place's local tensor of `operand` has all elements that the place's part of the result needs.
/// `like` is a tensor distributed like the result.
template <class Result, class Extents, class Operand, class Like>
void require_local_operand(const Extents& extents, const Operand& operand, const Like& like) {
  constexpr std::size_t axis = kind_of<Result>::axis;
  if constexpr (kind_of<Result>::is_split) {
    check_split_axis<Result, Extents, Operand>();
    const shape of_operand = shape_of(operand.extents()), of_result = shape_of(extents);
    const std::size_t extent = of_operand.aligned(axis, Extents::rank);
    if constexpr (std::is_same_v<typename Operand::placement_type, Result>) {
      if (extent != extents.extent(axis)) throw_repeated_parts("elementwise", of_operand, of_result);
      require_same_split("elementwise", operand.like(), like);
    } else if (extent != 1) {
      throw_whole_beside_parts(of_operand, of_result);
    }
  }
}

/// Throws unless an expression on Where can be written to the destination, also on Where, place by place.
template <class Where, class To, class Expression>
void require_destination(const To& destination, const Expression& expression) {
  const shape result = shape_of(destination.extents()), computed = shape_of(expression.extents());
  require_broadcast_to(result, computed);
  if constexpr (kind_of<Where>::is_split) {
    static_assert(Expression::rank == To::rank,
                  "devplace: assign: the expression has fewer axes than the destination, so it is split along another "
                  "axis; give it as many axes.");
    if (expression.extent(kind_of<Where>::axis) != destination.extent(kind_of<Where>::axis))
      throw_repeated_parts("assign", computed, result);
    require_same_split("assign", destination, expression.like());
  }
}

}  // namespace devplace::detail

// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/memory/detail/share_memory.hpp>
#include <devplace/ops/detail/broadcast.hpp>

namespace devplace::detail {

/// A tensor in an expression as its evaluation sees it.
struct operand_layout {
  const void* data = nullptr;
  std::size_t bytes = 0;
  std::size_t size = 0;
  bool single = false;                 // one element by its type; its strides are not looked at
  std::size_t strides[max_rank] = {};  // in elements, for each axis of the result; 0 where it is repeated
};

/// Strides of row-major elements of shape `own` within a result of shape `result`.
constexpr void set_strides(operand_layout& operand, const shape& own, const shape& result) {
  std::size_t step = 1;
  for (std::size_t axis = result.rank; axis-- > 0;) {
    const std::size_t extent = own.aligned(axis, result.rank);
    operand.strides[axis] = extent == 1 ? 0 : step;
    step *= extent;
  }
}

/// Leaves out axes of extent 1 and joins neighbouring axes that all operands cross with one stride: what is left is one
/// axis where nothing is repeated inside, two for a row vector beside a matrix.
constexpr void collapse(shape& result, operand_layout* operands, std::size_t count) {
  std::size_t kept = 0;
  for (std::size_t axis = 0; axis < result.rank; ++axis) {
    const std::size_t extent = result.extents[axis];
    if (extent == 1) continue;
    bool joins = kept > 0;
    for (std::size_t k = 0; k < count && joins; ++k)
      joins = operands[k].single || operands[k].strides[kept - 1] == operands[k].strides[axis] * extent;
    if (joins)
      result.extents[kept - 1] *= extent;
    else
      result.extents[kept++] = extent;
    for (std::size_t k = 0; k < count; ++k)
      operands[k].strides[kept - 1] = operands[k].strides[axis];
  }
  result.rank = kept;
}

/// Whether every row, the innermost axis, takes the operands' elements one after the other.
constexpr bool rows_are_linear(const shape& collapsed, const operand_layout* operands, std::size_t count) {
  if (collapsed.rank == 0) return true;
  for (std::size_t k = 0; k < count; ++k) {
    if (!operands[k].single && operands[k].strides[collapsed.rank - 1] != 1) return false;
  }
  return true;
}

/// Whether writing the result where it goes would change elements that are still to be read. An operand that is the
/// destination itself is read before it is written, element by element.
inline bool overlaps(const void* destination, std::size_t bytes, std::size_t size, const operand_layout& operand) {
  if (!share_memory(destination, bytes, operand.data, operand.bytes)) return false;
  return destination != operand.data || bytes != operand.bytes || size != operand.size;
}
inline bool any_overlaps(const void* destination, std::size_t bytes, std::size_t size, const operand_layout* operands,
                         std::size_t count) {
  bool any = false;
  for (std::size_t k = 0; k < count; ++k)
    any = any || overlaps(destination, bytes, size, operands[k]);
  return any;
}

}  // namespace devplace::detail

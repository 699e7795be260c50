// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>

#include <devplace/memory/device_pointer.hpp>
#include <devplace/ops/detail/broadcast_shapes.hpp>
#include <devplace/tensor/layout.hpp>

namespace devplace::detail {

/// Whether the type implies a single element.
template <class Extents> inline constexpr bool is_single = Extents::is_static && Extents{}.size() == 1;

/// The layout of a tensor in an expression, or of the destination.
struct operand_layout {
  const void* data = nullptr;  // the element with the lowest address
  std::size_t bytes = 0;
  std::size_t size = 0;
  bool single = false;                    // one element by its type; its strides are all 0
  std::ptrdiff_t strides[max_rank] = {};  // in elements, for each axis of the result; 0 if broadcast along it

  /// Copies the first `rank` strides to the last `rank` of the `most` elements of `to`.
  constexpr void aligned_strides(std::size_t rank, std::ptrdiff_t* to, std::size_t most) const {
    for (std::size_t axis = 0; axis < rank; ++axis) to[most - rank + axis] = strides[axis];
  }
};

/// The layout of a view's elements with respect to a result of shape `result`.
template <class View> constexpr operand_layout layout_of(const View& x, const shape& result) {
  using extents_type = typename View::extents_type;
  operand_layout operand;
  operand.data = raw_data(x);
  operand.size = x.size();
  operand.bytes = x.size() * sizeof(typename View::value_type);
  operand.single = is_single<extents_type>;
  if constexpr (!View::is_row_major) {
    const auto [all, before] = spanned(sizes_of(x.extents()), x.strides());
    operand.data = raw_data(x) - before;
    operand.bytes = all * sizeof(typename View::value_type);
  }
  std::ptrdiff_t step = 1;
  for (std::size_t axis = View::rank; axis-- > 0;) {
    const auto extent = static_cast<std::ptrdiff_t>(x.extent(axis));
    if constexpr (!View::is_row_major) step = x.stride(axis);
    operand.strides[result.rank - View::rank + axis] = extent == 1 ? 0 : step;
    step *= extent;
  }
  return operand;
}

/// Removes axes of extent 1 and merges neighbouring axes that all operands traverse with one stride. Of contiguous
/// operands without broadcasting, one axis remains; of a matrix and a row vector, two axes remain.
constexpr void collapse(shape& result, operand_layout* operands, std::size_t count) {
  std::size_t kept = 0;
  for (std::size_t axis = 0; axis < result.rank; ++axis) {
    const std::size_t extent = result.extents[axis];
    if (extent == 1) continue;
    bool joins = kept > 0;
    for (std::size_t k = 0; k < count && joins; ++k)
      joins = operands[k].single ||
              operands[k].strides[kept - 1] == operands[k].strides[axis] * static_cast<std::ptrdiff_t>(extent);
    if (joins)
      result.extents[kept - 1] *= extent;
    else
      result.extents[kept++] = extent;
    for (std::size_t k = 0; k < count; ++k) operands[k].strides[kept - 1] = operands[k].strides[axis];
  }
  result.rank = kept;
}

/// Whether all operands are contiguous along the innermost axis.
constexpr bool rows_are_linear(const shape& collapsed, const operand_layout* operands, std::size_t count) {
  return collapsed.rank == 0 || std::all_of(operands, operands + count, [&](const operand_layout& operand) {
           return operand.single || operand.strides[collapsed.rank - 1] == 1;
         });
}

/// Whether writing the result would overwrite operand elements that are read later. False for an operand that is the
/// destination itself, because each of its elements is read before it is overwritten.
inline bool any_overlaps(const operand_layout& destination, const operand_layout* operands, std::size_t count) {
  return std::any_of(operands, operands + count, [&](const operand_layout& operand) {
    const bool same = destination.data == operand.data && destination.size == operand.size &&
                      destination.bytes == operand.bytes &&
                      std::equal(destination.strides, destination.strides + max_rank, operand.strides);
    return !same && share_memory(destination.data, destination.bytes, operand.data, operand.bytes);
  });
}

}  // namespace devplace::detail

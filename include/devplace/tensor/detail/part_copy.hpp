// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/memory/copy_rows.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/tensor/distributed.hpp>

// Copies between an array and its parts along an axis.

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

/// The layout of an array with respect to an axis: `rows` rows, each with `index_bytes` bytes per index of the axis.
struct axis_geometry {
  std::size_t rows;
  std::size_t index_bytes;
  std::size_t extent;

  std::size_t offset(std::size_t index) const { return index * index_bytes; }
  std::size_t pitch() const { return extent * index_bytes; }
};

template <std::size_t Axis, class T, class Extents>
axis_geometry along(const Extents& whole) {
  std::size_t rows = 1;
  for (std::size_t before = 0; before != Axis; ++before)
    rows *= whole.extent(before);
  return {rows, whole.stride(Axis) * sizeof(T), whole.extent(Axis)};
}

/// Copies indices [begin, end) of an axis of the whole to a part.
template <class PartBackend, class WholeBackend>
void copy_to_part(int part_ordinal, void* part, int whole_ordinal, const void* whole, const axis_geometry& whole_is,
                  std::size_t begin, std::size_t end) {
  const std::size_t width = whole_is.offset(end - begin);
  if (width == 0 || whole_is.rows == 0) return;
  copy_rows<PartBackend, WholeBackend>(part_ordinal, part, whole_ordinal,
                                       static_cast<const char*>(whole) + whole_is.offset(begin),
                                       {width, whole_is.rows, width, whole_is.pitch()});
}

/// Copies a part to indices [begin, end) of an axis of the whole.
template <class WholeBackend, class PartBackend>
void copy_from_part(int whole_ordinal, void* whole, int part_ordinal, const void* part, const axis_geometry& whole_is,
                    std::size_t begin, std::size_t end) {
  const std::size_t width = whole_is.offset(end - begin);
  if (width == 0 || whole_is.rows == 0) return;
  copy_rows<WholeBackend, PartBackend>(whole_ordinal, static_cast<char*>(whole) + whole_is.offset(begin), part_ordinal,
                                       part, {width, whole_is.rows, whole_is.pitch(), width});
}

/// Copies to every place of a split tensor its part of `whole`, which has the tensor's extents.
template <class T, class Extents, class Where, class Whole>
void copy_to_parts(tensor<T, Extents, Where>& parts, const Whole& whole) {
  const axis_geometry geometry = along<rules_of<Where>::axis, T>(parts.extents());
  for (std::size_t k = 0; k < local_place_count<Where>; ++k) {
    const auto part = parts.local(k);
    copy_to_part<placement_backend_t<Where>, typename Whole::backend_type>(part.ordinal(), part.data(), whole.ordinal(),
                                                                           whole.data(), geometry, parts.part_begin(k),
                                                                           parts.part_begin(k + 1));
  }
}

/// Copies all parts of a split tensor to `whole`, which has the tensor's extents.
template <class Whole, class T, class Extents, class Where>
void copy_from_parts(const Whole& whole, const tensor<T, Extents, Where>& parts) {
  const axis_geometry geometry = along<rules_of<Where>::axis, T>(parts.extents());
  for (std::size_t k = 0; k < local_place_count<Where>; ++k) {
    const auto part = parts.local(k);
    copy_from_part<typename Whole::backend_type, placement_backend_t<Where>>(
        whole.ordinal(), whole.data(), part.ordinal(), part.data(), geometry, parts.part_begin(k),
        parts.part_begin(k + 1));
  }
}

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION

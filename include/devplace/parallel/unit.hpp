// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>

#include <devplace/base/divided_up.hpp>
#include <devplace/parallel/bucket_plan.hpp>
#include <devplace/runtime/pass.hpp>

namespace devplace::parallel {

/// Consecutive layers of a network, or a slice of the rows of one layer, whose parameters are gathered together by the
/// places of a model in shares. The slices of a layer are in the order of a forward pass, which begins with the last.
struct unit {
  runtime::link_range links;      ///< the layers
  bucket trained;                 ///< their trained parameters
  bucket frozen;                  ///< their frozen parameters, counted from the first frozen one of the network
  std::size_t reductions = 0;     ///< reductions over the places in a pass through the layers
  std::size_t before = 0;         ///< reductions in a pass through the layers before
  bool read_in_backward = false;  ///< whether backward reads the parameters
  bucket masters = {};  ///< in mixed precision: elements of the gathered unit, trained ones first, from the first to
                        ///< the last layer that reads parameters in the optimizer's type
  runtime::row_range rows = {};  ///< the rows of a slice
  std::size_t behind = 0;        ///< number of elements of a slice behind its rows

  /// Whether the unit is a slice of a layer.
  constexpr bool is_slice() const { return !(rows == runtime::row_range{}); }
};

/// Stands for a unit of a network where there is none.
inline constexpr std::size_t no_unit = static_cast<std::size_t>(-1);

namespace detail {

/// The slices of rows in which the places of a model in shares gather a large layer. The rows of a slice have at most
/// `most_bytes`, but are at least 16: the matrix engine computes fewer columns of a product by other sums. The last
/// slice has up to 15 rows more, which would be too few for another slice. If slices can have 512 rows or more, they
/// have a multiple of 512, the numbers that the engine on the CPU adds up at a time, so that slices of a layer with
/// such a number of rows change no sum.
struct row_slices {
  std::size_t count = 1;     ///< number of slices; 1: the layer is not divided
  std::size_t height = 0;    ///< rows of a slice; the last one has the rest
  std::size_t elements = 0;  ///< elements of a row
  std::size_t behind = 0;    ///< elements of the layer's parameters behind the rows, which belong to the last slice

  constexpr row_slices(const runtime::link& layer, bool is_alone, std::size_t most_bytes, std::size_t element_bytes) {
    const std::size_t all = layer.parameters + layer.frozen, rows = layer.rows.count;
    if (rows == 0 || !is_alone || all * element_bytes <= most_bytes) return;
    elements = layer.rows.elements;
    behind = all - runtime::padded(rows * elements);
    const std::size_t most = most_bytes / (elements * element_bytes), step = most < 512 ? 16 : 512;
    const std::size_t fewest = devplace::detail::divided_up(rows, std::max(most / step * step, step));
    height = devplace::detail::padded_to(devplace::detail::divided_up(rows, fewest), step);
    count = rows < height + 16 ? 1 : devplace::detail::divided_up(rows - 15, height);
  }

  /// The unit of slice `s` from the unit of the whole layer.
  constexpr unit slice(std::size_t s, unit layer) const {
    const bool is_last = s + 1 == count;
    const std::size_t first = s * height * elements;
    for (bucket* part : {&layer.trained, &layer.frozen}) {
      if (part->count == 0) continue;
      part->first += first;
      part->count = is_last ? part->count - first : height * elements;
    }
    layer.rows = {s * height, is_last ? runtime::row_range{}.last : (s + 1) * height};
    layer.behind = is_last ? behind : 0;
    return layer;
  }
};

}  // namespace detail
}  // namespace devplace::parallel

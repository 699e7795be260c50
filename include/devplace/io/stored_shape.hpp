// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <devplace/base/error.hpp>
#include <devplace/io/file_text.hpp>
#include <devplace/tensor/dtype.hpp>
#include <devplace/tensor/extents.hpp>

namespace devplace::detail {

/// An array as described by a file's header.
struct stored_array {
  const dtype* type = nullptr;
  std::vector<std::size_t> extents;
  std::size_t bytes = 0;      ///< of its elements
  bool swapped = false;       ///< true if the byte order differs from this machine's
  bool column_major = false;  ///< true if the first index changes fastest and several extents exceed 1
};

/// Returns the size in bytes of an array with these extents, or nothing if no machine can address it. The overflow
/// check skips extents of zero, because strides are products of the other extents.
inline std::optional<std::size_t> stored_bytes(std::span<const std::size_t> extents, std::size_t element_bytes) {
  constexpr std::size_t largest = std::numeric_limits<std::ptrdiff_t>::max();
  std::size_t product = element_bytes;
  bool empty = false;
  for (const std::size_t extent : extents) {
    if (extent == 0) {
      empty = true;
      continue;
    }
    if (product > largest / extent) return std::nullopt;
    product *= extent;
  }
  return empty ? 0 : product;
}

/// Returns the name of the extents type in C++: `extents<dyn, 28, 28>`.
template <extents_like Extents> std::string extents_text() {
  std::string text = "extents<";
  for (std::size_t axis = 0; axis < Extents::rank; ++axis) {
    const std::size_t extent = Extents::static_extent(axis);
    if (axis != 0) text += ", ";
    text += extent == dyn ? "dyn" : std::to_string(extent);
  }
  return text + ">";
}

/// Converts a stored array's extents to `Extents`. Throws file_error with both extents if the rank or a static extent
/// differs.
template <extents_like Extents>
Extents checked_extents(std::span<const std::size_t> stored, std::string_view operation, std::string_view path) {
  bool fits = stored.size() == Extents::rank;
  for (std::size_t axis = 0; fits && axis < Extents::rank; ++axis)
    fits = Extents::static_extent(axis) == dyn || Extents::static_extent(axis) == stored[axis];
  if (!fits)
    throw file_error({operation, ": ", in_quotes(path), " holds an array of shape ", sizes_text(stored),
                      ", which does not fit ", extents_text<Extents>(),
                      "; name extents that fit the file (dyn where they vary), or give the right file."});
  if constexpr (Extents::is_static) {
    return Extents();
  } else {
    return [&]<std::size_t... Axis>(std::index_sequence<Axis...>) {
      return Extents(stored[Axis]...);
    }(std::make_index_sequence<Extents::rank>{});
  }
}

}  // namespace devplace::detail

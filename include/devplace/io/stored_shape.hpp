// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <devplace/config.hpp>
#include <devplace/io/file_text.hpp>
#include <devplace/tensor/dtype.hpp>
#include <devplace/tensor/extents.hpp>

namespace devplace::detail {

class byte_source;

/// An array as described by a file's header.
struct stored_array {
  const dtype* type = nullptr;
  std::vector<std::size_t> extents;
  std::size_t bytes = 0;  ///< of its elements
  bool swapped = false;   ///< true if the byte order differs from this machine's
  /// Reads the elements to row-major order, if several extents exceed 1 and the first index changes fastest.
  std::size_t (*read_reordered)(byte_source& source, const stored_array& array, unsigned char* to) = nullptr;
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

/// Returns the name of an extents type in C++: `extents<dyn, 28, 28>`.
DEVPLACE_COMPILABLE([[DEVPLACE_FOR_SIZE]]) std::string extents_text(std::span<const std::size_t> extents) {
  std::string text;
  for (const std::size_t extent : extents)
    text += joined({text.empty() ? "" : ", ", extent == dyn ? text_part("dyn") : text_part(extent)});
  return joined({"extents<", text, ">"});
}
DEVPLACE_COMPILED(std::string extents_text(std::span<const std::size_t>))

/// Throws file_error with both shapes unless a stored array fits extents of type `extents<wanted...>`.
DEVPLACE_COMPILABLE([[DEVPLACE_FOR_SIZE]])
void check_shape(std::span<const std::size_t> stored, std::span<const std::size_t> wanted, const file_origin& from) {
  if (std::equal(stored.begin(), stored.end(), wanted.begin(), wanted.end(),
                 [](std::size_t found, std::size_t extent) { return extent == dyn || extent == found; }))
    return;
  fail_read(from, {"holds an array of shape ", sizes_text(stored), ", which does not fit ", extents_text(wanted),
                   "; name extents that fit the file (dyn where they vary), or give the right file."});
}
DEVPLACE_COMPILED(void check_shape(std::span<const std::size_t>, std::span<const std::size_t>, const file_origin&))

/// The extents that a type gives, dyn where they vary.
template <extents_like Extents>
inline constexpr auto static_sizes = []<std::size_t... Axis>(std::index_sequence<Axis...>) {
  return std::array<std::size_t, Extents::rank>{Extents::static_extent(Axis)...};
}(std::make_index_sequence<Extents::rank>{});

/// Converts a shape that fits `Extents`.
template <extents_like Extents> Extents fitting_extents([[maybe_unused]] std::span<const std::size_t> sizes) {
  return [&]<std::size_t... Axis>(std::index_sequence<Axis...>) {
    return Extents(sizes[Axis]...);
  }(std::make_index_sequence<Extents::rank>{});
}

/// Converts a stored array's extents to `Extents`. Throws file_error as check_shape does.
template <extents_like Extents> Extents checked_extents(std::span<const std::size_t> stored, const file_origin& from) {
  check_shape(stored, static_sizes<Extents>, from);
  return fitting_extents<Extents>(stored);
}

}  // namespace devplace::detail

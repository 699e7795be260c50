// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <devplace/tensor/copy.hpp>
#include <devplace/tensor/distributed.hpp>

namespace devplace::detail::inline DEVPLACE_CONFIGURATION {

/// Returns place k's part of `whole`, a view with the extents of the split tensor `parts`.
template <class Whole, class T, class Extents, class Where>
auto part_of(const Whole& whole, const tensor<T, Extents, Where>& parts, std::size_t k) {
  return whole.slice(axis<kind_of<Where>::axis>{}, parts.part_begin(k), parts.part_begin(k + 1));
}

/// Copies `whole` to a split tensor: each place gets its part.
template <class T, class Extents, class Where> void copy_to_parts(tensor<T, Extents, Where>& parts, const auto& whole) {
  for (std::size_t k = 0; k < local_place_count<Where>; ++k) copy(parts.local(k), part_of(whole, parts, k));
}

/// Copies all parts of a split tensor to `whole`.
template <class Whole, class T, class Extents, class Where>
void copy_from_parts(const Whole& whole, const tensor<T, Extents, Where>& parts) {
  for (std::size_t k = 0; k < local_place_count<Where>; ++k) copy(part_of(whole, parts, k), parts.local(k));
}

}  // namespace devplace::detail::inline DEVPLACE_CONFIGURATION

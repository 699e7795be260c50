// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

namespace devplace::runtime {

/// A place's part in an exchange with the places that have the rows of the images before and behind its own rows. When
/// a pass stops, a layer has set the addresses and sizes, which are equal on all places. The first place has no
/// previous one, and the last one no next one. Addresses are null if the layer exchanges nothing.
struct row_exchange {
  std::size_t part = 0, parts = 1;    ///< position among the places, and their number
  const void* to_next = nullptr;      ///< `forward` bytes for the next place,
  void* from_previous = nullptr;      ///< which receives them here
  const void* to_previous = nullptr;  ///< `backward` bytes for the previous place,
  void* from_next = nullptr;          ///< which receives them here
  std::size_t forward = 0, backward = 0;

  bool is_first() const { return part == 0; }
  bool is_last() const { return part + 1 == parts; }
};

}  // namespace devplace::runtime

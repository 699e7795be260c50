// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>

#include <devplace/base/joined.hpp>

namespace devplace::detail {

/// A human-readable size: `0 B`, `796 B`, `1.5 KiB`, `203.5 MiB`, `1.0 EiB`; rounded to one decimal.
inline std::string byte_text(std::size_t bytes) {
  constexpr const char* units[] = {" KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
  if (bytes < 1024) return joined({bytes, " B"});
  std::size_t unit = 0;
  std::size_t step = 1024;  // bytes in the unit
  // Takes the next unit if the number would round to 1024.0.
  while (unit + 1 < 6 && bytes >= step * 1024 - step / 20) {
    step *= 1024;
    ++unit;
  }
  const std::size_t tenths = bytes / step * 10 + (bytes % step * 10 + step / 2) / step;
  return joined({tenths / 10, ".", tenths % 10, units[unit]});
}

}  // namespace devplace::detail
